"""What every test can use: the real control plane (`control_plane`, `own_control_plane`)."""

pytest_plugins = ["tests.controlplane.plugin"]
