# SPDX-License-Identifier: Apache-2.0
"""A generated folder's files for platforms and for other languages: they call the heap or build it.

The C of the heap stays as it is. A platform's files are templates in templates/PLATFORM; each says
at its head what it does for that platform.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from heapfit.fact_files import read_facts
from heapfit.plan.targets import Platform


@dataclass(frozen=True, slots=True)
class PlatformForm:
    """The files and properties that a platform, or a form of a folder, needs of it."""

    title: str  # as its users write it
    # Names, and the templates they are filled from; likewise of plans that are pools alone.
    files: dict[str, str] = field(default_factory=dict)
    pool_files: dict[str, str] = field(default_factory=dict)
    is_one_file: bool = False  # it compiles the sources of one folder alone
    counts: bool = False  # its functions report figures that only a heap with counts has
    frees_without_size: str = ""  # its function that frees a block whose size it does not know


FORMS = {
    Platform(name): PlatformForm(**form)
    for name, form in read_facts(__file__, "platforms.toml").items()
}
