"""Kinds that describe pods in fields of their own, each read by a small function that puts the pods together."""
