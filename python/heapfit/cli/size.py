# SPDX-License-Identifier: Apache-2.0
"""`heapfit size`: how much memory admits a share of the requests, of traffic or of a trace."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from heapfit.cli.arguments import (
    STANDARD_QUEUE,
    AsJson,
    DropUnknown,
    PointerBitsOption,
    Seed,
    import_options,
    opened_trace,
)
from heapfit.cli.printing import console
from heapfit.cli.printing.progress import progress_bars
from heapfit.cli.printing.size_output import (
    pools_json,
    print_pools,
    print_settings,
    print_traffic,
    settings_json,
    traffic_json,
)
from heapfit.errors import HeapfitError
from heapfit.simulation.traffic import load_traffic
from heapfit.sizing.from_traffic import STANDARD_REPLICATIONS, Aim, size_for
from heapfit.sizing.pools import PoolSizing, size_pools
from heapfit.sizing.settings import Settings, as_text
from heapfit.sizing.systems import Wanted, settings_for
from heapfit.sweep import usable_cores
from heapfit.trace.stored import Trace


class System(StrEnum):
    """Whose settings are printed."""

    LWIP = "lwip"
    ZEPHYR = "zephyr"
    OPENTHREAD = "openthread"
    FREERTOS = "freertos"


class By(StrEnum):
    """What is counted as admitted."""

    BYTES = "bytes"
    REQUESTS = "requests"


def command(
    source: Annotated[
        Path | None,
        typer.Argument(help="A stored trace, or a recording or capture to import first."),
    ] = None,
    traffic: Annotated[
        Path | None,
        typer.Option(
            "--traffic", help="Instead of a trace: a file with the [traffic] of a scenario."
        ),
    ] = None,
    admission: Annotated[
        float, typer.Option("--admission", help="Share of requests to admit.")
    ] = 0.999,
    settings: Annotated[
        System | None, typer.Option("--settings", help="Print this system's settings to copy.")
    ] = None,
    assume: Annotated[
        list[str] | None,
        typer.Option("--assume", help="NAME=VALUE instead of what is assumed of the system."),
    ] = None,
    name: Annotated[
        list[str] | None,
        typer.Option("--name", help="SIZE=SETTING: blocks of SIZE bytes have a pool of that name."),
    ] = None,
    sent: Annotated[
        bool, typer.Option("--sent", help="The packets are sent, not received.")
    ] = False,
    pools: Annotated[
        str | None, typer.Option("--pools", help="Sizes of the pools, as 64,512,1520.")
    ] = None,
    queue: Annotated[
        str | None,
        typer.Option(
            "--queue",
            help="When a captured packet leaves: fifo:PACKETS_PER_S, hold:exp:MEAN_US[:SEED], "
            "hold:fixed:US or fill-drain:N.",
        ),
    ] = None,
    by: Annotated[By, typer.Option("--by", help="What of traffic counts.")] = By.BYTES,
    overhead: Annotated[
        int, typer.Option("--overhead", min=0, max=4096, help="Bookkeeping a buffer, in bytes.")
    ] = 0,
    buffer: Annotated[
        int | None,
        typer.Option("--buffer", min=1, max=2**30, help="Of fixed buffers [the largest request]."),
    ] = None,
    exact: Annotated[
        bool, typer.Option("--exact", help="Closed forms alone, at once: nothing is simulated.")
    ] = False,
    curve: Annotated[
        bool, typer.Option("--curve", help="Other refusal probabilities too.")
    ] = False,
    replications: Annotated[
        int | None, typer.Option("--replications", min=2, max=10_000, help="Of a simulation [8].")
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option("--workers", min=1, max=1024, help="Threads [one for each processor]."),
    ] = None,
    seed: Seed = 1,
    report: Annotated[
        Path | None, typer.Option("--report", help="Write a page with the curve.")
    ] = None,
    drop_unknown: DropUnknown = False,
    pointer_bits: PointerBitsOption = None,
    as_json: AsJson = False,
) -> None:
    """Size pools and heaps so that a share of requests is admitted, with the chance to run out."""
    if (source is None) == (traffic is None):
        raise typer.BadParameter("give a trace or capture, or --traffic FILE, and not both")
    given: dict[str, object] = {
        **{"--overhead": overhead, "--buffer": buffer, "--exact": exact, "--curve": curve},
        **{"--workers": workers, "--replications": replications, "--assume": assume},
        **{"--name": name, "--sent": sent, "--pools": pools, "--report": report},
        **{"--queue": queue, "--settings": settings},
    }
    _refuse_strangers(traffic is not None, settings is not None, given)
    if traffic is not None:
        has_curve = curve or report is not None
        aim = Aim(
            *(admission, by.value, overhead, buffer, exact),
            *(replications or STANDARD_REPLICATIONS, seed, has_curve),
        )
        _size_traffic(traffic, aim, workers, report, as_json)
        return
    assert source is not None
    importing = import_options(queue or STANDARD_QUEUE, drop_unknown, pointer_bits)
    with progress_bars() as progress, opened_trace(source, importing, progress) as trace:
        _require_queue(source, trace, queue)
        if settings is not None:
            wanted = Wanted(admission, _values(assume), _names(name), sent)
            printed = settings_for(settings.value, trace, wanted, progress)
            _show_settings(printed, trace, source, as_json)
        else:
            found = size_pools(trace, admission, _sizes(pools), progress)
            typed = _typed_trace(source, found, pools, queue)
            _show_pools(found, trace, source, (report, typed), as_json)


def _refuse_strangers(is_traffic: bool, is_settings: bool, given: Mapping[str, object]) -> None:
    """Options that say nothing where they stand."""
    of_traffic = ("--overhead", "--buffer", "--exact", "--curve", "--workers", "--replications")
    of_settings = ("--assume", "--name", "--sent")
    strangers = [*(() if is_traffic else of_traffic), *(() if is_settings else of_settings)]
    strangers += ["--pools"] if is_traffic or is_settings else []
    strangers += ["--report"] if is_settings else []
    strangers += ["--queue", "--settings"] if is_traffic else []
    for name in strangers:
        if given.get(name):
            kind = "traffic" if is_traffic else "settings" if is_settings else "a trace's pools"
            raise typer.BadParameter(f"{name} says nothing about {kind}")


def _require_queue(source: Path, trace: Trace, queue: str | None) -> None:
    if trace.info.kind == "packets" and trace.path != source and queue is None:
        raise HeapfitError(
            f"{source}: a capture tells when packets come, not how long they stay (add --queue "
            "fifo:PACKETS_PER_S or --queue hold:exp:MEAN_US)"
        )


def _size_traffic(
    path: Path, aim: Aim, workers: int | None, report: Path | None, as_json: bool
) -> None:

    traffic = load_traffic(path)
    with progress_bars() as progress:
        found = size_for(traffic, aim, workers or usable_cores(), progress)
    if report is not None:
        from heapfit.report.sizing.page import write_traffic_page

        write_traffic_page(report, found, path, _typed_traffic(path, aim))
    if as_json:
        console.out_json(traffic_json(found, path))
    else:
        print_traffic(found, path)


def _show_pools(
    found: PoolSizing, trace: Trace, source: Path, report: tuple[Path | None, str], as_json: bool
) -> None:
    page, typed = report
    if page is not None:
        from heapfit.report.sizing.page import write_trace_page

        write_trace_page(page, found, source, typed)
    if as_json:
        console.out_json(pools_json(found, trace))
    else:
        print_pools(found, trace, source.name)


def _show_settings(found: Settings, trace: Trace, source: Path, as_json: bool) -> None:

    text = as_text(found, trace.info, source.name)
    if as_json:
        console.out_json(settings_json(found, text))
    else:
        print_settings(found, text)


def _typed_traffic(path: Path, aim: Aim) -> str:
    """The command that gives this, with all that decides it."""
    words = ["heapfit", "size", "--traffic", str(path), "--admission", f"{aim.admission:.15g}"]
    words += ["--by", aim.by, "--overhead", str(aim.overhead), "--curve"]
    words += ["--buffer", str(aim.buffer_size)] if aim.buffer_size is not None else []
    words += ["--exact"] if aim.exact_alone else []
    words += ["--replications", str(aim.replications), "--seed", str(aim.seed)]
    return shlex.join(words)


def _typed_trace(source: Path, found: PoolSizing, pools: str | None, queue: str | None) -> str:
    words = ["heapfit", "size", str(source), "--admission", f"{found.admission:.15g}"]
    words += ["--pools", pools] if pools else []
    words += ["--queue", queue] if queue else []
    return shlex.join(words)


def _values(given: Sequence[str] | None) -> dict[str, int]:
    found = {}
    for text in given or ():
        name, sign, value = text.partition("=")
        if not sign or not value.isdecimal() or not value.isascii():
            raise HeapfitError(f"assume: {text} is not NAME=NUMBER")
        found[name] = int(value)
    return found


def _names(given: Sequence[str] | None) -> dict[int, str]:
    found = {}
    for text in given or ():
        size, sign, name = text.partition("=")
        if not sign or not (size.isdecimal() and size.isascii()) or not name.isidentifier():
            raise HeapfitError(f"name: {text} is not SIZE=SETTING, as 160=MEMP_NUM_TCP_PCB")
        if not 0 < int(size) < 2**31:
            raise HeapfitError(f"name: {size} bytes are no size of a block")
        found[int(size)] = name
    return found


def _sizes(text: str | None) -> list[int]:
    if text is None:
        return []
    parts = text.split(",")
    if not all(part.isdecimal() and part.isascii() and len(part) < 12 for part in parts):
        raise HeapfitError(f"pools: {text} is not SIZE,SIZE,... in bytes")
    return [int(part) for part in parts]
