"""gpugate in a cluster: the server, the keeper, and what both need, as objects for `kubectl apply`."""
