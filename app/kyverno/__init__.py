"""Kyverno policies, compiled to rules of the same kind as our own."""
