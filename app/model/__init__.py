"""The pure vocabulary: pods, containers, quantities, tolerations, findings, patches. Nothing here does I/O."""
