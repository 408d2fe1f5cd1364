"""What talks to the API server of a cluster. Nothing else imports `kubernetes`."""
