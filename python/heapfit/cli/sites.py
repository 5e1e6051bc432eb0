# SPDX-License-Identifier: Apache-2.0
"""`heapfit sites`: from where a program asks for memory, and which tag a plan has for it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from heapfit.cli.commands.recordings import SitesCommand
from heapfit.cli.printing.parts import Column, Line, Part, Table, print_result
from heapfit.cli.printing.progress import step_bar
from heapfit.design.placement.call_sites import CallSite, call_sites
from heapfit.errors import HeapfitError
from heapfit.importers import open_trace
from heapfit.importers.source_lines import SourcePlace, places_in
from heapfit.plan.plan import Plan
from heapfit.plan.plan_file import load_plan
from heapfit.trace.chains import Chains, sites_with_tags
from heapfit.trace.loaded import load_trace


def run(command: SitesCommand) -> None:
    plan = None if command.plan_file is None else load_plan(command.plan_file).plan
    with (
        step_bar() as progress,
        open_trace(command.source, progress=progress) as trace,
    ):
        sites = call_sites(load_trace(trace, progress=progress))
        chains = trace.chains
    if not sites:
        raise HeapfitError(
            f"{command.source}: no call sites are recorded (`heapfit record` keeps them)"
        )
    callers = {one.site: chains.get(one.site, (one.site,)) for one in sites}
    known = {caller for chain in callers.values() for caller in chain}
    places = places_in(command.programs or [], known)
    if plan is not None:
        plan = replace(plan, sites=sites_with_tags(plan.sites, chains))
    print_result(_parts(sites, _Callers(callers, places), plan), command.as_json)


@dataclass(frozen=True, slots=True)
class _Callers:
    """The callers of each site, innermost first, and where these are."""

    chains: Chains
    places: Mapping[int, SourcePlace]

    def place(self, site: int) -> SourcePlace | None:
        """The source place of the direct caller."""
        return self.places.get(self.chains[site][0])

    def outer_places(self, site: int) -> list[SourcePlace | None]:
        """The source places of the callers above the direct one; None where unknown."""
        return [self.places.get(caller) for caller in self.chains[site][1:]]


def _parts(sites: Sequence[CallSite], callers: _Callers, plan: Plan | None) -> Iterator[Part]:
    yield Table(_columns(callers, plan), sites, "sites")
    yield Line("Bytes; life in events, of unaligned blocks, until they are resized.")
    others = sum(callers.place(one.site) is None for one in sites)
    if callers.places and others:
        yield Line(f"{others} in other files: give these with --program, too.")


def _columns(callers: _Callers, plan: Plan | None) -> list[Column[CallSite]]:
    """The columns; tags are shown where there is a plan, places where there is a program."""

    def heading_if_planned(heading: str) -> str:
        return "" if plan is None else heading

    return [
        Column("site", "site", lambda call_site: f"{call_site.site:08x}"),
        Column("requests", "requests"),
        Column("least", "least"),
        Column("most", "most"),
        Column("live_at_peak", "live at peak"),
        Column("mean_life", "mean life", shown=lambda call_site: round(call_site.mean_life)),
        Column("tag", heading_if_planned("tag"), lambda call_site: _tag(call_site.site, plan)),
        Column("end", heading_if_planned("end"), lambda call_site: _end(call_site.site, plan)),
        Column(
            "place",
            "where" if callers.places else "",
            lambda call_site: callers.place(call_site.site),
            lambda call_site: _chain(callers, call_site.site),
        ),
        Column("callers", value=lambda call_site: callers.outer_places(call_site.site)),
    ]


def _tag(site: int, plan: Plan | None) -> int | None:
    return None if plan is None else plan.sites.get(site)


def _end(site: int, plan: Plan | None) -> str | None:
    """The end of the top, high or low, from which the plan cuts this site's blocks."""
    tag = _tag(site, plan)
    if plan is None or tag is None:
        return None
    return "high" if plan.scalars.get("tag_high", 0) >> tag & 1 else "low"


def _chain(callers: _Callers, site: int) -> str | None:
    """The place of the call, and the functions above it."""
    above = [
        place.function or f"{place.address:#x}" for place in callers.outer_places(site) if place
    ]
    place = callers.place(site)
    where = None if place is None else place.description
    return " < ".join([where or "?", *above]) if above else where
