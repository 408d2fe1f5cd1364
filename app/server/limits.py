"""Every limit of the server, with its reason. Sizes in bytes, times in seconds."""

from typing import Final

MAX_BODY: Final = 7 * 1024 * 1024
"""The API server takes objects up to 3 MiB; a review of an UPDATE holds two of them.
controller-runtime has the same limit."""

MAX_HEADERS: Final = 64 * 1024
"""The API server sends well under 1 KiB; the parser itself has no bound (an 8 MiB header was answered)."""

HANDSHAKE_TIMEOUT: Final = 10.0
"""Go's client gives up on a TLS handshake after 10 s, so nobody waits longer."""

READ_TIMEOUT: Final = 10.0
"""From the first byte of a request to its last. Reviews come whole, within milliseconds; webhooks of gpugate are
configured with 1 to 3 s."""

FIRST_REQUEST_TIMEOUT: Final = 20.0
"""From the end of the handshake to the first byte. Go's client connects because it has something to send; the rare
connection that it did not need after all costs it nothing to lose."""

TIMEOUT_SHARE: Final = 0.9
"""Of the `?timeout=` of a request, the part within which it is answered. What is left is for the way back."""

KEEP_ALIVE: Final = 120
"""Go's client drops idle connections after 90 s. A server that closes first makes calls fail with EOF."""

MAX_MESSAGE: Final = 2 * MAX_BODY + MAX_HEADERS
"""What is read of one request at most. The part beyond MAX_BODY is thrown away: closing with data unread resets the
connection, and the client may never see that it sent too much."""

MAX_HELD: Final = 64 * 1024 * 1024
"""What requests that have not arrived whole may hold together: nine of the largest. Reviews of pods arrive in one
piece and are not counted. Beyond, the request that grows gets 429 with `Retry-After`, which API servers heed."""

MAX_CONNECTIONS: Final = 1000
"""Default of `--max-connections`. An API server keeps up to 25 idle ones and opens more under load; each costs
32 KiB. Beyond, the one that has been idle for longest is closed, or the new one if none is idle."""

MAX_METRICS_CONNECTIONS: Final = 64
"""Of the metrics port: Prometheus, kubelet's probes, and people."""

DRAIN_QUIET: Final = 1.0
"""When nothing was asked for this long during a drain, the connections that are still open are idle, and waiting
longer would not make it less likely that a call is sent just as they are closed."""

DRAIN_TIMEOUT: Final = 5.0
"""After SIGTERM, how long answers carry `Connection: close` before the server stops: API servers go on using the
connections that they have to a pod that ends. Over at once when no connection is open, and after DRAIN_QUIET when
none is used."""

SHUTDOWN_TIMEOUT: Final = 10
"""How long requests may take to end once the server stops; with DRAIN_TIMEOUT and a preStop sleep of 10 s it
fits the 30 s that Kubernetes gives a pod."""

TLS_SHUTDOWN_TIMEOUT: Final = 2.0
"""How long a closing connection waits for the other side's close_notify; clients that never send one must not
hold up the stop."""

BACKLOG: Final = 1024
"""Connections that wait to be accepted: an API server opens up to 25 at once, after a restart all do."""

MAX_LOG_PENDING: Final = 4 * 1024 * 1024
"""Log lines kept while whoever reads standard output is slow. Beyond, lines are dropped and counted: a full
disk under the log must not stop admission."""

RECORD_DELAY: Final = 0.02
"""Decisions are counted and logged together after this long, which costs half of doing it one by one."""

MAX_TEXT: Final = 500
"""What answers and log lines hold of a text that whoever sent the request chose, in characters."""

TICK: Final = 1.0
"""How often files are looked at and deadlines are checked."""

RETRY_REFUSED: Final = 30.0
"""How often files that were refused are read again though they did not change: what was wrong may have been the
clock, or the disk. More often would cost a large policy's compilation for nothing."""

MAX_RECORD_FILE: Final = 32 * 1024 * 1024
"""A file of `--record` ends at this size: some thousand reviews, read and copied in seconds."""

MAX_RECORD_FILES: Final = 16
"""How many of these files are kept, the newest: 512 MiB in all, about a hundred thousand reviews."""

MAX_RECORD_LINE: Final = 1024 * 1024
"""A longer record is left out. etcd stores no object above 1.5 MiB, and a redacted pod is far smaller."""

MAX_RECORD_PENDING: Final = 16 * 1024 * 1024
"""Reviews that wait for a slow disk. Beyond, they are left out and counted: a disk must not stop admission."""

RECORD_CLOSE_TIMEOUT: Final = 2.0
"""At the end, how long the disk may take for what still waits."""
