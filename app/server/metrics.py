"""The server's metrics, as Prometheus reads them."""

import platform
from collections.abc import Callable

from prometheus_client import CollectorRegistry, Counter, Gauge, GCCollector, ProcessCollector, disable_created_metrics

from app import __version__
from app.server.counts import ReviewCounts

disable_created_metrics()  # type: ignore[no-untyped-call]


class Metrics:
    """All metrics of one server, in a registry of their own. ``log_dropped`` tells how many log lines were lost."""

    def __init__(self, log_dropped: Callable[[], float]) -> None:
        self.registry = registry = CollectorRegistry()
        ProcessCollector(registry=registry)
        GCCollector(registry=registry)
        self.reviews = ReviewCounts()
        registry.register(self.reviews)
        self.rejected = Counter(
            "gpugate_rejected_requests",
            "Requests that were no review, by HTTP status.",
            ("code",),
            registry=registry,
        )
        self.policy_loaded = Gauge(
            "gpugate_policy_loaded_timestamp_seconds", "When the policy in force was loaded.", registry=registry
        )
        self.policy_failures = Counter(
            "gpugate_policy_reload_failures",
            "Policies refused on reload because they had errors; the last good one stayed in force.",
            registry=registry,
        )
        self.policy_reloaded = Gauge(
            "gpugate_policy_last_reload_successful",
            "1 if the policy in force is that of its files, 0 while theirs is refused.",
            registry=registry,
        )
        self.facts_failures = Counter(
            "gpugate_cluster_facts_failures", "Times that the cluster facts became unreadable.", registry=registry
        )
        self.scope_mismatch = Gauge(
            "gpugate_scope_mismatch",
            "1 if an API server calls with the digest of another scope than that of the policy in force.",
            registry=registry,
        )
        self.certificate_expiry = Gauge(
            "gpugate_certificate_expiry_timestamp_seconds",
            "End of the validity of the certificate in use.",
            registry=registry,
        )
        self.certificate_failures = Counter(
            "gpugate_certificate_reload_failures",
            "Certificates refused on reload; the last good pair stayed in use.",
            registry=registry,
        )
        self.certificate_reloaded = Gauge(
            "gpugate_certificate_last_reload_successful",
            "1 if the certificate in use is that of its files, 0 while theirs is refused.",
            registry=registry,
        )
        build = Gauge("gpugate_build_info", "The running version.", ("version", "python"), registry=registry)
        build.labels(__version__, platform.python_version()).set(1)
        dropped = Gauge("gpugate_log_lines_dropped", "Log lines dropped for a slow reader.", registry=registry)
        dropped.set_function(log_dropped)
