# SPDX-License-Identifier: Apache-2.0
"""The platforms that a plan's C code is generated for, and the languages that call it beside C.

The C of the heap stays as it is: what is added calls it or builds it. The files of each are
templates of generate/templates/PLATFORM, which say at their heads what they do for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from heapfit.errors import HeapfitError
from heapfit.fact_files import read_facts


@dataclass(frozen=True, slots=True)
class Platform:
    """The files and properties that a platform, or a form of a folder, needs of it."""

    title: str  # as its users write it
    # Names, and the templates they are filled from; likewise of plans that are pools alone.
    files: dict[str, str] = field(default_factory=dict)
    pool_files: dict[str, str] = field(default_factory=dict)
    is_language: bool = False
    is_one_file: bool = False  # it compiles the sources of one folder alone
    counts: bool = False  # its functions report figures that only a heap with counts has
    frees_without_size: str = ""  # its function that frees a block whose size it does not know

    def files_of(self, *, pools_alone: bool) -> dict[str, str]:
        """The files of a plan, by name their templates."""
        return self.files | (self.pool_files if pools_alone else {})


PLATFORMS: Mapping[str, Platform] = {
    name: Platform(**form) for name, form in read_facts(__file__, "platforms.toml").items()
}

GUARD = "guard"  # the one that changes the plan, too


def require_platform(name: str) -> str:
    """The name, if a platform has it; else HeapfitError."""
    if name not in PLATFORMS:
        raise HeapfitError(f"platform {name[:40]!a}: must be one of {', '.join(PLATFORMS)}")
    return name
