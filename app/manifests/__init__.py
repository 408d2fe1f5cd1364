"""A policy as objects of the cluster: webhook configurations, and the guard of the mode label."""
