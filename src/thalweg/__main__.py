"""`python -m thalweg` is the command `thalweg`."""

from thalweg.cli.main import app

app(prog_name="thalweg")
