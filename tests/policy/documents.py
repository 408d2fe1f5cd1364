"""Policy documents for tests."""

from textwrap import indent

from app.policy.compiled import Policy
from app.policy.load import load


def document(spec: str, name: str = "p") -> str:
    """A GpuPolicy with this spec."""
    body = indent(spec.strip("\n"), "  ") if spec else "  {}"
    return f"apiVersion: gpugate.dev/v1alpha1\nkind: GpuPolicy\nmetadata:\n  name: {name}\nspec:\n{body}\n"


def policy(*specs: str) -> Policy:
    """The policy of one document for each spec, named a, b, c ..."""
    return load([(f"{name}.yaml", document(spec, name).encode()) for name, spec in zip("abcdef", specs, strict=False)])
