"""Commands run as in tests/cli."""

from tests.cli.conftest import folder, gpugate

__all__ = ["folder", "gpugate"]
