"""The names of the objects that the keeper reads and writes, unless it is told others."""

from typing import Final

KEEPER: Final = "gpugate-keeper"
"""The keeper's ServiceAccount, Roles and bindings."""

AUTHORITY_SECRET: Final = "gpugate-ca"  # noqa: S105 - a name
"""The certificate authority with its key: for the keeper alone, mounted by nobody."""

CERTIFICATE_SECRET: Final = "gpugate-tls"  # noqa: S105 - a name
"""The server's pair and the authorities to trust (`tls.crt`, `tls.key`, `ca.crt`): what the servers mount."""

POLICY_SOURCE: Final = "gpugate-policy-source"
"""The ConfigMap that people write the policy into."""

POLICY: Final = "gpugate-policy"
"""The ConfigMap that the servers mount: the last good policy that configurations were made ready for."""

CLUSTER_FACTS: Final = "gpugate-cluster-facts"
FACTS_KEY: Final = "facts.json"
"""The ConfigMap of cluster facts, and its one key."""

ROTATE_ANNOTATION: Final = "gpugate.dev/rotate"
"""On the authority's Secret: somebody asks for a new one. Taken away when it is made."""
