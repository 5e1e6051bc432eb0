# SPDX-License-Identifier: Apache-2.0
"""What the repository names is there: packages, actions, images and addresses.

Whoever registers a name that no index has runs code where it is installed. So each is locked, or
looked up with a date, or the reader's own: OWNER/heapfit@REF, git+URL, a file.
"""

import re
from itertools import pairwise
from pathlib import Path
from urllib.parse import urlsplit

import pytest

LOCKED = re.compile(r"^([a-z0-9.-]+)==", re.MULTILINE)
# Packages beside the locked ones, each with who installs it; found on PyPI 2026-11-28.
OTHER_PACKAGES = {
    "onnx": "the extra networks of pyproject.toml",
    "cibuildwheel": "make wheels",
    **dict.fromkeys(
        ("conan", "idf-component-manager", "kconfiglib", "meson", "platformio"),
        "scripts/try_packagers, in test-long",
    ),
}
# Found on GitHub 2026-11-28.
ACTIONS = {"actions/checkout@v4", "actions/upload-artifact@v4"}
# Official images of Docker Hub.
IMAGES = {"debian:12", "python:3.12", "python:3.12-bookworm"}
# Hosts of specifications and licences; names of XML, which nobody fetches; the registry of crates.
HOSTS = {
    "github.com": "rust-lang/crates.io-index",
    "keepachangelog.com": "",
    "semver.org": "",
    "www.apache.org": "licenses",
    "www.cacetech.com": "documents",
    "www.ietf.org": "archive",
    "www.tcpdump.org": "",
    "www.w3.org": "",
}
OWN_HOSTS = {"127.0.0.1", "localhost", "example.invalid"}  # reserved, or the reader's machine

# What stands between `pip install` and the end of a command: two spaces, a comma or a closing mark.
PIP = re.compile(r"\bpip3? install((?: [^\s`\"|)#,]+)+)")
UVX = re.compile(r"\b(?:uvx|pipx run) (?:--from )?([a-z][^\s`:]+)")
USES = re.compile(r"^\s*- uses: *(\S+)", re.MULTILINE)
IMAGE = re.compile(r"^\s*(?:image|container): *([a-z][\w./:-]+)$", re.MULTILINE)
RUN = re.compile(r"docker run (?:-\S+ (?:[\w\"$:/]+ )?)*([\w./-]+:[\w.-]+)")
URL = re.compile(r"https?://[^\s)>\"'`{;\\]+")
OWN = re.compile(r"git\+(URL|\$)|[${\\]|\.$|.*/|.*\.(whl|lock)$")  # a path, a wheel, a variable
VALUED = {"--python", "--prefix", "--target", "-r", "-c"}


def locked(root: Path) -> set[str]:
    return set(LOCKED.findall((root / "requirements-dev.lock").read_text()))


def asked_of_an_index(text: str) -> set[str]:
    """The packages that a text tells pip, uvx or pipx to install by name."""
    names = set(UVX.findall(text))
    for line in PIP.findall(text):
        words = line.replace("'", "").split()
        values = {word for before, word in pairwise(words) if before in VALUED}
        names |= {word for word in words if word not in values and not word.startswith("-")}
    return {name.partition("==")[0] for name in names if not OWN.match(name)}


def unknown(root: Path, text: str) -> set[str]:
    """What a text names that is neither locked, nor looked up, nor the reader's own."""
    packages = asked_of_an_index(text) - locked(root) - OTHER_PACKAGES.keys()
    actions = set(USES.findall(text)) - ACTIONS - {"OWNER/heapfit@REF"}
    images = {*IMAGE.findall(text), *RUN.findall(text)} - IMAGES
    return packages | actions | images | {one for one in URL.findall(text) if not resolves(one)}


def resolves(url: str) -> bool:
    parts = urlsplit(url)
    host = parts.hostname or ""
    return host in OWN_HOSTS or (
        host in HOSTS and parts.path.removeprefix("/").startswith(HOSTS[host])
    )


def test_all_that_is_named_is_there_or_the_readers_own(root: Path, texts: dict[Path, str]) -> None:
    named = {
        path.relative_to(root).as_posix(): text
        for path, text in texts.items()
        if path.name != "CHANGELOG.md" and not path.is_relative_to(root / "tests")
    }
    assert len(named) > 1000
    found = {name: wrong for name, text in named.items() if (wrong := unknown(root, text))}
    assert found == {}


@pytest.mark.parametrize(
    "text",
    [
        "pip install heapfit",
        "pip install 'heapfit[dask]'",
        "`pip install --quiet heapfit==0.1.0`",
        "uvx heapfit --help",
        "pipx run heapfit --help",
        "uvx --from heapfit heapfit",
        "  - uses: heapfit/check@v1",
        "    image: heapfit/heapfit:1",
        'docker run --rm -v "$PWD:/here" -w /here heapfit:1 sh',
        "https://heapfit.org/docs",
        "https://github.com/OTHER/heapfit",
    ],
)
def test_what_nobody_looked_up_is_found(root: Path, text: str) -> None:
    assert unknown(root, text)


def test_each_name_that_is_excused_is_used(texts: dict[Path, str]) -> None:
    """So that the lists hold nothing that nobody names."""
    others = (text for path, text in texts.items() if path.name != Path(__file__).name)
    everything = "\n".join(others)
    for name in [*OTHER_PACKAGES, *ACTIONS, *IMAGES, *HOSTS]:
        assert name in everything, name
