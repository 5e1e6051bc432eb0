# SPDX-License-Identifier: Apache-2.0
"""The call sites of a recording by function and line, from the programs that made it.

A wrapper that most call would name every site alike. So a site has the innermost of its callers,
inlined or not, up to which no other site has the same, and which is not of C++'s library. Those
below it are named, too, "grow, a.c:3 < main, a.c:9", but for a wrapper of most sites; and that one
where the caller is another site's as well.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

import numpy as np

from heapfit.programs.executable import ELF
from heapfit.programs.source_lines import SourcePlace, frames_in
from heapfit.store_file import StoreFile
from heapfit.trace.loaded import LoadedTrace
from heapfit.trace.stored import Trace

_LIBRARY = re.compile(r"(^| )(std|__gnu_cxx)::\S*$|^operator (new|delete)")

_LONGEST_NAME = 255  # bytes, of a file

PlaceChain: TypeAlias = tuple[SourcePlace | None, ...]  # innermost first; None: unknown


def site_names(loaded: LoadedTrace, programs: Sequence[Path]) -> dict[int, str]:
    """A text for each site that one of the programs knows: function and line.

    HeapfitError if a program cannot be read.
    """
    return {site: place.description for site, place in site_places(loaded, programs).items()}


def find_recorded_program(trace: Trace) -> tuple[Path, ...]:
    """The recorded program, beside its recording or in this folder, if it was not built anew since.

    None of another name or build is taken: it would name other lines.
    """
    name, recording = Path(trace.info.program).name, trace.imported_from or trace.path
    is_name = 0 < len(name.encode(errors="replace")) <= _LONGEST_NAME and name.isprintable()
    if not is_name or isinstance(recording, StoreFile) or not recording.is_file():
        return ()
    return tuple(
        folder / name
        for folder in (recording.parent, Path())
        if _is_older_program(folder / name, recording)
    )[:1]


def _is_older_program(path: Path, recording: Path) -> bool:
    """True of an ELF file that was not changed since the recording was made."""
    if not path.is_file() or path.stat().st_mtime > recording.stat().st_mtime:
        return False
    with path.open("rb") as file:
        return file.read(len(ELF)) == ELF


def site_places(loaded: LoadedTrace, programs: Sequence[Path]) -> dict[int, SourcePlace]:
    """The place of each site that one of the programs knows; others are left out.

    HeapfitError if a program cannot be read.
    """
    return own_places(find_chains(loaded, programs))


def own_places(chains: Mapping[int, PlaceChain]) -> dict[int, SourcePlace]:
    """The innermost caller of each site, of the program, up to which no other has the same.

    With those below it, but where most sites have the first of them, and no other this caller.
    """
    texts = {
        site: tuple("" if one is None else one.description for one in chain)
        for site, chain in chains.items()
    }
    counts = Counter(text[:end] for text in texts.values() for end in range(1, len(text) + 1))
    shared = Counter(text for chain in texts.values() for text in set(chain))
    places = {}
    for site, chain in chains.items():
        own = [place for end, place in enumerate(chain, 1) if counts[texts[site][:end]] == 1]
        outside = [place for place in own if place is not None and not is_of_library(place)]
        place = next(filter(None, [*outside[:1], *own[:1], *reversed(chain)]), None)
        if place is not None:
            # Of few sites, so no wrapper of all; or the caller is another site's, too.
            is_named = 2 * counts[texts[site][:1]] <= len(chains) or shared[place.description] > 1
            inner = tuple(
                one.description
                for one in chain[: chain.index(place) * is_named]
                if one and not is_of_library(one)
            )
            places[site] = replace(place, inner=inner)
    return places


def is_of_library(place: SourcePlace) -> bool:
    """True of C++'s standard library and of operator new."""
    name = place.function or ""
    while (outer := re.sub(r"<[^<>]*>", "", name)) != name:  # a template may be of its types
        name = outer
    return bool(_LIBRARY.search(name.partition("(")[0]))


def find_chains(loaded: LoadedTrace, programs: Sequence[Path]) -> dict[int, PlaceChain]:
    """The callers of each site, inlined ones too; without programs as the log itself names them."""
    recorded, told = loaded.trace.chains, loaded.trace.info.names
    programs = programs or (() if told else find_recorded_program(loaded.trace))
    if not programs:
        chains = {
            **{site: (site,) for site in np.unique(loaded.sites).tolist() if site in told},
            **recorded,
        }
        return {
            site: tuple(SourcePlace("", one, None, told.get(one)) for one in chain)
            for site, chain in chains.items()
        }
    chains = {site: recorded.get(site, (site,)) for site in np.unique(loaded.sites).tolist()}
    known = frames_in(programs, {caller for chain in chains.values() for caller in chain})
    return {
        site: tuple(place for one in chain for place in known.get(one, (None,)))
        for site, chain in chains.items()
    }
