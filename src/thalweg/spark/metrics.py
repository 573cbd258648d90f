"""What a running pipeline says about itself: numbers, and an endpoint that Prometheus can read.

rows, rejected (by reason), late, revised    counted since the first start of the checkpoint, over all batches
batch, query_time, lag                       where it is; from the last query time to the last arrival
open                                         pending delayed effects, or open answers
state_bytes                                  state on disk
seconds                                      of the last batch, by step: survey, reason, commit, and each stage
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

from thalweg.io.errors import InputError
from thalweg.reasons import TOO_LATE

if TYPE_CHECKING:
    from pyspark.sql.streaming.listener import StreamingQueryListener

    from thalweg.spark.checkpoint import Commit
    from thalweg.spark.pipeline import BatchReport


@dataclass(frozen=True, slots=True)
class Metrics:
    """The numbers at one moment."""

    batch: int
    rows: int
    rejected: dict[str, int]
    late: int
    revised: int
    query_time: int
    lag: int
    open: int
    state_bytes: int
    seconds: dict[str, float] = field(default_factory=dict)
    rows_per_second: float = 0.0


def metrics_of(commit: Commit, report: BatchReport | None, rate: float = 0.0) -> Metrics:
    """The numbers after a commit; `report` is that of its batch, where this process ran it."""
    totals = commit.totals
    rejected = {n.removeprefix("rejected "): c for n, c in totals.items() if n.startswith("rejected ")}
    moment = commit.moment
    return Metrics(
        batch=commit.batch,
        rows=totals.get("rows", 0),
        rejected=dict(sorted(rejected.items())),
        late=rejected.get(TOO_LATE, 0),
        revised=totals.get("revised", 0),
        query_time=moment.query_time,
        lag=max(0, moment.latest - moment.query_time) if moment.latest is not None else 0,
        open=commit.tables.get("open", 0),
        state_bytes=commit.state_bytes,
        seconds=dict(report.seconds) if report is not None else {},
        rows_per_second=rate,
    )


def prometheus(metrics: Metrics | None) -> str:
    """The numbers as Prometheus reads them."""
    return "".join(line + "\n" for line in _lines(metrics)) if metrics is not None else ""


def _lines(metrics: Metrics) -> Iterator[str]:
    for name, kind, text in (
        ("rows", "counter", "Rows taken."),
        ("late", "counter", "Rows that came too late."),
        ("revised", "counter", "Changes due to late rows and retractions."),
        ("batch", "gauge", "The last batch."),
        ("query_time", "gauge", "The last query time, a time-point."),
        ("lag", "gauge", "Time-points from the last query time to the last arrival."),
        ("open", "gauge", "Pending delayed effects, or open answers."),
        ("state_bytes", "gauge", "State on disk."),
        ("rows_per_second", "gauge", "Rows per second of the last batch that had any."),
    ):
        full = f"thalweg_{name}" + ("_total" if kind == "counter" else "")
        yield f"# HELP {full} {text}"
        yield f"# TYPE {full} {kind}"
        yield f"{full} {getattr(metrics, name)}"
    yield "# HELP thalweg_rejected_total Rows that were rejected, by reason."
    yield "# TYPE thalweg_rejected_total counter"
    yield from (f'thalweg_rejected_total{{reason="{reason}"}} {n}' for reason, n in metrics.rejected.items())
    yield "# HELP thalweg_seconds Time of the last batch, by step."
    yield "# TYPE thalweg_seconds gauge"
    yield from (f'thalweg_seconds{{step="{step}"}} {value:.6f}' for step, value in metrics.seconds.items())


class Endpoint:
    """Serves the numbers at ``/metrics`` until it is closed. Port 0 takes any free one; `port` says which."""

    def __init__(self, read: Callable[[], Metrics | None], port: int, host: str = "127.0.0.1") -> None:
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                known = self.path.split("?")[0] in ("/", "/metrics")
                body = prometheus(read()).encode() if known else b"only /metrics is here\n"
                self.send_response(200 if known else 404)
                self.send_header("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: Any) -> None:
                """Nothing is logged."""

        try:
            self._server = ThreadingHTTPServer((host, port), Handler)
        except (OSError, OverflowError, TypeError) as error:
            reason = getattr(error, "strerror", None) or error
            told = f"the port {port} cannot be used: {reason}"
            raise InputError("metrics", told, "choose another one, or 0 for any") from None
        self.port: int = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, name="thalweg-metrics", daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


def listener(
    run_id: str, told: Callable[[int, float], None], ended: Callable[[], None]
) -> StreamingQueryListener:
    """A listener that tells of each batch of one run of a query how many seconds it took, and of its end. The next run
    on the same checkpoint has the same id, and what Spark says of this one may come after it has begun."""
    from pyspark.sql.streaming.listener import StreamingQueryListener

    class Listener(StreamingQueryListener):
        def onQueryStarted(self, event: Any) -> None:
            """Nothing is known yet."""

        def onQueryProgress(self, event: Any) -> None:
            if str(event.progress.runId) == run_id:
                told(event.progress.batchId, float(event.progress.batchDuration) / 1000)

        def onQueryTerminated(self, event: Any) -> None:
            if str(event.runId) == run_id:
                ended()

    return Listener()
