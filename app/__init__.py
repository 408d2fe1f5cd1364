"""gpugate: admission control for GPU pods."""

__version__ = "0.1.0"
