"""`gpugate certs inspect`."""

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

if TYPE_CHECKING:
    from app.certs.describe import Description

_CERTIFICATES: Final = ("tls.crt", "ca.crt")


@click.command("inspect")
@click.argument("path", type=click.Path(path_type=Path, exists=True))
@click.option("-o", "--output", type=click.Choice(["text", "json"]), default="text", show_default=True)
def command(path: Path, output: str) -> int:
    """Show the certificates of PATH, a PEM file or a folder with tls.crt, tls.key and ca.crt.

    Exits with 1 if an API server would not accept them: expired, of another key, or not signed by ca.crt.

    \b
    Examples:
      gpugate certs inspect certs
      gpugate certs inspect -o json server.pem
    """
    from app.certs import InvalidPair
    from app.certs.describe import describe, problems

    now = datetime.now(UTC)
    files = [path / name for name in _CERTIFICATES if (path / name).exists()] if path.is_dir() else [path]
    if not files:
        raise click.ClickException(f"{path} holds neither {' nor '.join(_CERTIFICATES)}")
    found: dict[str, list[Description]] = {}
    wrong: list[str] = []
    for file in files:
        try:
            found[str(file)] = describe(_read(file))
        except InvalidPair as error:
            wrong.append(f"{file}: {error}")
    if path.is_dir() and (path / "tls.crt").exists() and str(path / "tls.crt") in found:
        key, bundle = (_read(path / name) if (path / name).exists() else None for name in ("tls.key", "ca.crt"))
        wrong += [f"{path / 'tls.crt'}: {line}" for line in problems(_read(path / "tls.crt"), key, bundle, now)]
    else:
        listed = ((file, each) for file, descriptions in found.items() for each in descriptions)
        states = ((file, each.subject, each.state(now)) for file, each in listed)
        wrong += [
            f"{file}: {subject} is {state}" for file, subject, state in states if state.startswith(("exp", "not"))
        ]
    if output == "json":
        _print_json(found, wrong, now)
    else:
        _print_text(found, wrong, now)
    return 1 if wrong else 0


def _print_text(found: "dict[str, list[Description]]", wrong: list[str], now: datetime) -> None:
    for file, descriptions in found.items():
        for each in descriptions:
            kind = "authority" if each.authority else f"for {', '.join(each.names) or 'no name'}"
            click.echo(f"{file}: {each.subject}, {kind}")
            click.echo(f"  signed by  {each.issuer}")
            click.echo(f"  valid      {each.not_before:%Y-%m-%d %H:%M} to {each.not_after:%Y-%m-%d %H:%M} UTC")
            click.echo(f"  renewal    {each.renewal:%Y-%m-%d %H:%M} UTC ({each.state(now)})")
            click.echo(f"  SHA-256    {each.fingerprint}")
    for line in wrong:
        click.echo(f"wrong: {line}")


def _print_json(found: "dict[str, list[Description]]", wrong: list[str], now: datetime) -> None:
    import orjson

    listed: list[dict[str, Any]] = [
        {
            "file": file,
            "subject": each.subject,
            "issuer": each.issuer,
            "authority": each.authority,
            "names": list(each.names),
            "notBefore": each.not_before,
            "notAfter": each.not_after,
            "renewal": each.renewal,
            "state": each.state(now),
            "sha256": each.fingerprint,
        }
        for file, descriptions in found.items()
        for each in descriptions
    ]
    options = orjson.OPT_INDENT_2 | orjson.OPT_UTC_Z
    click.echo(orjson.dumps({"version": 1, "certificates": listed, "problems": wrong}, option=options).decode())


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise click.ClickException(f"{file} cannot be read: {error.strerror}") from error
