"""The programs that `gpugate check` calls, for tests."""

from .build import PROGRAMS, BuildError, programs_directory

__all__ = ["PROGRAMS", "BuildError", "programs_directory"]
