"""What `gpugate migrate` writes: a GpuPolicy and the table of the rules that it came from."""

from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

import orjson

from app import __version__
from app.admission.review import printable
from app.documents.dump import dump
from app.migrate.row import Migration, Row

FORMATS: Final = ("yaml", "text", "json")
VERSION: Final = 1


def rendered(migration: Migration, form: str) -> str:
    """The migration in one of FORMATS."""
    match form:
        case "json":
            return _json(migration)
        case "text":
            return "".join(f"{line}\n" for line in _lines(migration))
        case _:
            head = "".join(f"# {line}".rstrip() + "\n" for line in _lines(migration))
            return head + (dump(migration.document) if migration.document is not None else "")


def _lines(migration: Migration) -> Iterator[str]:
    for row in migration.rows:
        became = f" -> {', '.join(row.becomes)}" if row.becomes else ""
        yield printable(f"{row.policy}/{row.rule}: {row.verdict}{became}")
        if row.message:
            yield printable(f'  "{row.message}"')
        yield from (printable(f"  the original {said}") for said in row.better)
        yield from (printable(f"  {said}") for said in (*row.different, *row.notes))
    if migration.additions:
        yield "The shipped policy (--policy shipped) adds:"
        yield from (f"  {said}" for said in migration.additions)
    counts = Counter(row.verdict for row in migration.rows)
    number = "1 rule" if len(migration.rows) == 1 else f"{len(migration.rows)} rules"
    said = ", ".join(f"{counts[verdict]} {verdict}" for verdict in _VERDICTS if counts[verdict])
    yield f"{number}: {said or 'none'}."


_VERDICTS: Final = ("same", "better", "different", "not taken")


def _json(migration: Migration) -> str:
    value = {
        "version": VERSION,
        "tool": {"name": "gpugate", "version": __version__},
        "policy": migration.document,
        "rules": [_row(row) for row in migration.rows],
        "additions": list(migration.additions),
    }
    return orjson.dumps(value, option=orjson.OPT_INDENT_2).decode() + "\n"


def _row(row: Row) -> dict[str, Any]:
    return {
        "policy": row.policy,
        "rule": row.rule,
        "verdict": row.verdict,
        "message": row.message,
        "becomes": [{"kind": piece.kind, **piece.entry} for piece in row.entries],
        "better": list(row.better),
        "different": list(row.different),
        "notes": list(row.notes),
    }
