"""References to images, taken apart."""

import pytest

from app.kyverno.image_reference import InvalidImage, image_info, normalized

DIGEST = "sha256:" + "ab" * 32


@pytest.mark.parametrize(
    ("image", "registry", "path", "tag", "digest", "whole"),
    [
        ("nginx", "docker.io", "nginx", "latest", "", "docker.io/nginx:latest"),
        ("nginx:v10.3", "docker.io", "nginx", "v10.3", "", "docker.io/nginx:v10.3"),
        ("test/nginx", "docker.io", "test/nginx", "latest", "", "docker.io/test/nginx:latest"),
        ("ghcr.io/a/b/c:1", "ghcr.io", "a/b/c", "1", "", "ghcr.io/a/b/c:1"),
        ("localhost/a", "localhost", "a", "latest", "", "localhost/a:latest"),
        ("localhost:4443/a/b", "localhost:4443", "a/b", "latest", "", "localhost:4443/a/b:latest"),
        (f"a@{DIGEST}", "docker.io", "a", "", DIGEST, f"docker.io/a@{DIGEST}"),
        (f"a:1@{DIGEST}", "docker.io", "a", "1", DIGEST, f"docker.io/a@{DIGEST}"),
    ],
)
def test_an_image(image: str, registry: str, path: str, tag: str, digest: str, whole: str) -> None:
    found = image_info(image)
    assert (found["registry"], found["path"], found.get("tag", ""), found.get("digest", "")) == (
        registry,
        path,
        tag,
        digest,
    )
    assert found["name"] == path.split("/")[-1]
    assert found["reference"] == normalized(image) == whole


@pytest.mark.parametrize("image", ["", "++", "Nginx", "a:", "a@sha256:12", "a/", "/a", "a b", "a" * 2000])
def test_what_is_no_image(image: str) -> None:
    with pytest.raises(InvalidImage):
        image_info(image)
