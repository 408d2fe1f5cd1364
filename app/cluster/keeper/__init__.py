"""`gpugate keeper`: certificates, webhook configurations in step with the policy, cluster facts.

Every part looks at what is there, does the next step, and looks again; nothing that matters is kept in memory. Each
write is conditional on what was read (`resourceVersion`), so that two keepers at once do no harm and need no leader.

The state is asked for at an interval, not watched: that is some ten small reads, and there is no watch to break.
"""
