"""`python -m app.cli` is `gpugate`."""

from app.cli.main import run

run()
