"""The board: what a scan found, as HTML pages for people. From a snapshot to text, and nothing else."""
