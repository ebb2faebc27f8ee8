"""What a server counts: requests by operation and status, how long they took, how many at once."""

import os
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4 as TEXT
from prometheus_client.multiprocess import MultiProcessCollector

__all__ = ["SHARED", "TEXT", "Metrics"]

SHARED: Final = "PROMETHEUS_MULTIPROC_DIR"
"""The variable that names the folder in which workers count together; set before they begin."""
_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)


class Metrics:
    """The counts of a server: of this process, or of all workers that count together."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._requests = Counter(
            "memoranda_requests",
            "Requests that were answered.",
            ["operation", "status"],
            registry=self._registry,
        )
        self._seconds = Histogram(
            "memoranda_request_seconds",
            "How long requests took.",
            ["operation"],
            buckets=_BUCKETS,
            registry=self._registry,
        )
        self.under_way = Gauge(
            "memoranda_requests_under_way",
            "Requests under way.",
            registry=self._registry,
            multiprocess_mode="livesum",
        )

    def note(self, operation: str, status: int, seconds: float) -> None:
        """Count a request."""
        self._requests.labels(operation, str(status)).inc()
        self._seconds.labels(operation).observe(seconds)

    def text(self) -> bytes:
        """All of it, as Prometheus reads it."""
        if not os.environ.get(SHARED):
            return generate_latest(self._registry)
        together = CollectorRegistry()
        MultiProcessCollector(together)  # type: ignore[no-untyped-call]
        return generate_latest(together)
