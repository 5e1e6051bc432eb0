# SPDX-License-Identifier: Apache-2.0
"""`heapfit sites`: from where a program asks for memory, and which tag a plan has for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from heapfit.cli.arguments import STANDARD_QUEUE, AsJson, Source, import_options
from heapfit.cli.opened_trace import opened_trace
from heapfit.cli.printing import console
from heapfit.design.placement.call_sites import CallSite, call_sites
from heapfit.errors import HeapfitError
from heapfit.importers.source_lines import Place, places_of
from heapfit.plan.plan import Plan
from heapfit.plan.plan_file import load_plan
from heapfit.trace.loaded import load_trace


def command(
    source: Source,
    programs: Annotated[
        list[Path] | None,
        typer.Option(
            "--program",
            help="The recorded program, or a library of it: tells function and line. Repeatable.",
        ),
    ] = None,
    plan_file: Annotated[
        Path | None,
        typer.Option("--plan", help="A plan with call sites: tells their tags and ends."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show the call sites of a recording: what each asks for, how long it lives, where it is."""
    plan = None if plan_file is None else load_plan(plan_file).plan
    with (
        console.progress() as progress,
        opened_trace(source, import_options(STANDARD_QUEUE, False, None), progress) as trace,
    ):
        found = call_sites(load_trace(trace, progress=progress))
    if not found:
        raise HeapfitError(f"{source}: no call sites are recorded (`heapfit record` keeps them)")
    known = {one.site for one in found}
    places: dict[int, Place] = {}
    for program in programs or []:
        places = {**places_of(program, known), **places}
    if as_json:
        console.out_json({"sites": [_json(one, places, plan) for one in found]})
    else:
        _print(found, places, plan)


def _json(one: CallSite, places: Mapping[int, Place], plan: Plan | None) -> dict[str, Any]:
    place = places.get(one.site)
    return {
        **asdict(one),
        "site": f"{one.site:08x}",
        "place": None if place is None else asdict(place),
        "tag": None if plan is None else plan.sites.get(one.site),
        "end": _end(one.site, plan),
    }


def _end(site: int, plan: Plan | None) -> str | None:
    """From which end of the top the plan cuts what this site asks for."""
    tag = None if plan is None else plan.sites.get(site)
    if plan is None or tag is None:
        return None
    return "high" if plan.scalars.get("tag_high", 0) >> tag & 1 else "low"


def _where(place: Place | None) -> str | None:
    if place is None:
        return None
    where = place.line or f"{place.file}+{place.address:#x}"
    return f"{place.function}, {where}" if place.function else where


def _print(found: Sequence[CallSite], places: Mapping[int, Place], plan: Plan | None) -> None:
    columns = ["site", "requests", "least", "most", "live at peak", "mean life"]
    columns += ["tag", "end"] if plan is not None else []
    columns += ["where"] if places else []
    rows = []
    for one in found:
        row: list[object] = [f"{one.site:08x}", one.requests, one.least, one.most]
        row += [one.live_at_peak, round(one.mean_life)]
        if plan is not None:
            row += [plan.sites.get(one.site), _end(one.site, plan)]
        rows.append(row + ([_where(places.get(one.site))] if places else []))
    console.out_table(columns, rows)
    console.out("Bytes, life in events; of blocks that are not aligned, until they are resized.")
    if places and len(places) < len(found):
        others = len(found) - len(places)
        console.out(f"{others} lie in other files: give these with --program, too.")
