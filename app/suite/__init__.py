"""Tests of a policy: PolicyTest documents and folders of fixtures, and what they leave untested."""
