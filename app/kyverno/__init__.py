"""Kyverno policies: read, compiled, and judged by Kyverno's semantics. Pure."""
