"""Files and folders."""

import os
from pathlib import Path

import pytest

from app.sources.manifests import Manifest, Manifests, Unreadable
from app.sources.repository import Repository


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def found(*paths: str) -> list[tuple[str, str]]:
    return [
        (each.name, each.content.decode() if isinstance(each, Manifest) else each.reason) for each in Manifests(paths)
    ]


def test_what_cannot_be_read_hides_nothing_else(folder: Path) -> None:
    (folder / "t").mkdir()
    (folder / "t/a.yaml").write_text("a")
    (folder / "t/loop").symlink_to("loop")
    (folder / "t/gone.yaml").symlink_to("nowhere")
    os.mkfifo(folder / "t/pipe.yaml")
    (folder / "t/z.json").write_text("z")
    assert found("t") == [
        ("t/a.yaml", "a"),
        ("t/gone.yaml", "cannot be read: No such file or directory"),
        ("t/loop", "cannot be read: Too many levels of symbolic links"),
        ("t/pipe.yaml", "is not a regular file"),
        ("t/z.json", "z"),
    ]


def test_a_folder_that_leads_back_to_itself_is_read_once(folder: Path) -> None:
    (folder / "t/u").mkdir(parents=True)
    (folder / "t/u/a.yaml").write_text("a")
    (folder / "t/u/back").symlink_to("..")
    assert found("t") == [("t/u/a.yaml", "a")]


def test_names_that_are_not_utf_8(folder: Path) -> None:
    Path(os.fsdecode(os.fsencode(folder) + b"/\xff.yaml")).write_text("x")
    (folder / "학습.yaml").write_text("y")
    assert found(".") == [("./학습.yaml", "y"), ("./\ufffd.yaml", "x")]


def test_no_such_path() -> None:
    (only,) = Manifests(["none"])
    assert only == Unreadable("none", "cannot be read: No such file or directory")
    assert found("a\0b") == [("a\0b", "cannot be read: embedded null byte")]


# Paths in the repository


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("a.yaml", "sub/a.yaml"),
        ("./x//a.yaml", "sub/x/a.yaml"),
        ("../b.yaml", "b.yaml"),
        ("link/c.yaml", "real/c.yaml"),
        ("<stdin>", "<stdin>"),
    ],
)
def test_paths_start_at_the_root_of_the_repository(
    folder: Path, monkeypatch: pytest.MonkeyPatch, name: str, path: str
) -> None:
    for each in ("repo/.git", "repo/sub", "repo/real"):
        (folder / each).mkdir(parents=True)
    (folder / "repo/sub/link").symlink_to("../real")
    monkeypatch.chdir(folder / "repo/sub")
    repository = Repository(".")
    assert repository.path(name) == path
    assert repository.path(str(folder / "repo" / "x.yaml")) == "x.yaml"
    assert repository.path(str(folder / "x.yaml")) == str(folder / "x.yaml")


def test_outside_of_a_repository_paths_start_here(folder: Path) -> None:
    (folder / "a.yaml").touch()
    repository = Repository(".")
    assert repository.path("./a.yaml") == "a.yaml"
    assert repository.exists("a.yaml")
    assert repository.exists("<stdin>")
    assert not repository.exists("b.yaml")
