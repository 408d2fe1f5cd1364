"""Programs that `gpugate check` calls, and promtool, for tests."""

from .build import PROGRAMS, BuildError, programs_directory

__all__ = ["PROGRAMS", "BuildError", "programs_directory"]
