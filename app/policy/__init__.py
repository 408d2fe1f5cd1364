"""The policy: its document, how documents add up to one policy, and what is compiled from them."""
