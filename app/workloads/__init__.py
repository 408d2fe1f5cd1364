"""Where the pods are in the objects of each kind, and what the API server makes of them."""
