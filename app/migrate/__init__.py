"""Kyverno policies to a GpuPolicy that says the same, and what differs, rule by rule. Pure."""
