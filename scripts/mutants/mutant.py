# SPDX-License-Identifier: Apache-2.0
"""One small fault: where it is, what stands there instead, and a name that outlives other edits."""

import hashlib
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Mutant:
    """A span of a function's text and what is put in its place.

    `key` is a hash of the file's name, the function's text and the fault in it. It stays as long as
    the function does, whatever else of the file changes.
    """

    file: str  # from the repository's top
    function: str
    line: int  # counts from 1
    start: int  # bytes from the file's start
    end: int
    was: str
    becomes: str
    operator: str
    key: str


def key_of(file: str, function_text: bytes, place: int, was: str, becomes: str) -> str:
    """16 hex digits; `place` is bytes from the function's start."""
    text = f"{file}\0{place}\0{was}\0{becomes}\0".encode() + function_text
    return hashlib.sha256(text).hexdigest()[:16]


def mutated(source: bytes, mutant: Mutant) -> bytes:
    """The file with the fault in it, on as many lines as before."""
    missing = mutant.was.count("\n") - mutant.becomes.count("\n")
    instead = mutant.becomes.encode() + b"\n" * missing
    return source[: mutant.start] + instead + source[mutant.end :]


def line_of(root: Path, mutant: Mutant) -> str:
    """The first line that the fault changes, as it stands."""
    return (root / mutant.file).read_text().splitlines()[mutant.line - 1].strip()
