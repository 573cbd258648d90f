"""Makes the workloads importable as the benchmarks import them, and the helper of these tests too."""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "bench")]
