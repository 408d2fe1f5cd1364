"""All times of the keeper, in seconds, each with its reason."""

from typing import Final

INTERVAL: Final = 10.0
"""Between looks. Ten small reads each; what people change is in force that much later at most."""

SETTLE: Final = 10.0
"""For how long something must have been so before others are taken to know it: API servers hear of a changed
configuration by a watch, usually within a second."""

HANDOVER: Final = 300.0
"""After how long servers are no longer waited for. kubelet brings a ConfigMap to a pod within its sync period and
cache lifetime, together about two minutes."""

FACTS_INTERVAL: Final = 60.0
"""Between looks at the cluster for its facts, but for pods."""

PODS_INTERVAL: Final = 240.0
"""Between looks at all pods: in a large cluster the list is long."""

FACTS_REWRITTEN: Final = 240.0
"""After how long facts are written though nothing changed: readers forget them after 15 minutes."""

LONGEST_PAUSE: Final = 60.0
"""Between attempts while the API server cannot be reached; they begin at the interval and double."""

ASK_TIMEOUT: Final = 3.0
"""What a server may take to say which certificate and policy it uses."""

STUCK: Final = 600.0
"""Without the end of a look after which the keeper counts as dead: longer than every timeout of a look."""
