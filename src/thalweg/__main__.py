"""`python -m thalweg` is the command `thalweg`."""

from thalweg.cli.main import app

if __name__ == "__main__":
    app(prog_name="thalweg")
