"""What every test can use: the real control plane (`control_plane`, `own_control_plane`)."""

from hypothesis import HealthCheck, settings

# How long an example takes says what else the machine does.
settings.register_profile("gpugate", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("gpugate")

pytest_plugins = ["tests.controlplane.plugin"]
