"""How a cluster is reached: a kubeconfig, or the ServiceAccount of the pod that this runs in.

`kubernetes` reads both, with exec plugins, tokens that are renewed, and certificates.
"""

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple

from app.admission.review import printable
from app.cluster.errors import NotConfigured

_DEFAULT: Final = "~/.kube/config"
_IN_CLUSTER: Final = "KUBERNETES_SERVICE_HOST"


class Connection(NamedTuple):
    """A way to a cluster; ``context`` and ``kubeconfig`` are None inside a pod. ``configuration`` is `kubernetes`'."""

    context: str | None
    kubeconfig: str | None
    configuration: Any

    @property
    def where(self) -> str:
        """The cluster in words."""
        return f'the cluster of context "{self.context}"' if self.context else "the cluster"


def connection(context: str | None, kubeconfig: str | None) -> Connection:
    """The way to the cluster of the context: by the kubeconfig, else $KUBECONFIG, else ~/.kube/config, else as a pod.

    Runs the exec plugin that the kubeconfig names. Raises NotConfigured.
    """
    from kubernetes.client import Configuration
    from kubernetes.config import ConfigException

    files = kubeconfig or os.environ.get("KUBECONFIG") or _DEFAULT
    configuration = Configuration()
    configuration.refresh_api_key_hook = None
    try:
        if any(Path(path).expanduser().exists() for path in files.split(os.pathsep) if path):
            return Connection(_load(files, context, configuration), kubeconfig, configuration)
        if kubeconfig is None and context is None and os.environ.get(_IN_CLUSTER):
            from kubernetes.config import load_incluster_config

            load_incluster_config(configuration)
            return Connection(None, None, configuration)
    except NotConfigured:
        raise
    except ConfigException as error:
        raise NotConfigured(f"the kubeconfig {files} cannot be used: {_line(error)}") from error
    except OSError as error:
        where = error.filename or files
        raise NotConfigured(f"{where} cannot be read: {error.strerror or error}") from error
    except Exception as error:  # whatever a broken file leads the library to: YAML, base64, types
        raise NotConfigured(f"the kubeconfig {files} is not understood: {_line(error)}") from error
    if kubeconfig:
        raise NotConfigured(f"there is no kubeconfig {kubeconfig}")
    raise NotConfigured(
        f"there is no kubeconfig at {files}, and this is no pod of a cluster: give --kubeconfig FILE or set $KUBECONFIG"
    )


def renewed(made: Connection) -> Connection:
    """The same way with credentials read anew: a plugin's may have been revoked, a pod's token replaced."""
    return connection(made.context, made.kubeconfig)


def _load(files: str, context: str | None, configuration: Any) -> str:
    """Read the kubeconfig into the configuration; the name of the context that was taken."""
    from kubernetes.config import load_kube_config
    from kubernetes.config.kube_config import KubeConfigMerger

    merged = KubeConfigMerger(files).config
    content = merged.value if merged is not None else {}
    names = [str(each["name"]) for each in content.get("contexts") or []]
    chosen = context or content.get("current-context")
    if not chosen:
        raise NotConfigured(f"the kubeconfig {files} has no current-context: give --context, one of {_list(names)}")
    if chosen not in names:
        raise NotConfigured(f'the kubeconfig {files} has no context "{chosen}"; it has {_list(names)}')
    with _failures() as said:
        load_kube_config(files, context=chosen, client_configuration=configuration, persist_config=False)
    if said:
        raise NotConfigured(f'the credentials of context "{chosen}" could not be made: {_line(said[0])}')
    return str(chosen)


@contextmanager
def _failures() -> Iterator[list[str]]:
    """What `kubernetes` logs of an exec plugin that failed, which it goes on without, as nobody."""

    class Kept(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            said.append(record.getMessage())

    said: list[str] = []
    root, handler = logging.getLogger(), Kept(logging.ERROR)
    root.addHandler(handler)
    try:
        yield said
    finally:
        root.removeHandler(handler)


def _list(names: list[str]) -> str:
    return ", ".join(names) or "no context at all"


def _line(error: object) -> str:
    return printable(" ".join(str(error).split()))
