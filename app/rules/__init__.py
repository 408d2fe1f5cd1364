"""The rules: one file each, knowing pods and nothing of policies, modes or the API."""
