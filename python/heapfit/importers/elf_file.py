# SPDX-License-Identifier: Apache-2.0
"""What a user is told of an ELF file that cannot be read."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from elftools.common.exceptions import ELFError
from elftools.construct.core import ConstructError

from heapfit.errors import HeapfitError, read_error_reason

# What pyelftools raises at a damaged file, and readers that follow its numbers.
DAMAGED = (
    ELFError,
    ConstructError,
    ValueError,
    LookupError,
    TypeError,
    OverflowError,
    AttributeError,
    MemoryError,
    AssertionError,
)


@contextmanager
def explain_elf_errors(path: Path) -> Iterator[None]:
    """A context in which the file is read: HeapfitError if it cannot be, or is no ELF file."""
    try:
        yield
    except OSError as error:
        raise HeapfitError(f"{path}: {read_error_reason(error)}") from error
    except DAMAGED as error:
        raise HeapfitError(f"{path}: is empty, damaged or no ELF file") from error
