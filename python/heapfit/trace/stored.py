# SPDX-License-Identifier: Apache-2.0
"""The stored trace: a Parquet table of events, written by importers and read by everything else.

docs/evidence/schemas.md says what the columns and the metadata mean. A stored trace may come from
anywhere, so its rows are checked whenever they are read.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, fields, replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from heapfit import _engine
from heapfit.errors import HeapfitError
from heapfit.outputs.file import stage_file
from heapfit.plan.plan import Plan
from heapfit.plan.quantities import format_count
from heapfit.progress import Progress, ignore_progress
from heapfit.trace.chains import Chains, Sites, caller_metadata, parse_chains, parse_names, tags_of
from heapfit.trace.check import TraceCheck, is_alignment
from heapfit.trace.names import source_name
from heapfit.trace.operations import REPLAYED
from heapfit.trace.origin import WorkloadSpec, origin_metadata, parse_origin
from heapfit.trace.pages import require_true_pages
from heapfit.trace.table_file import (
    ROW_GROUP,
    Columns,
    arrow_array,
    name_values,
    open_table,
    require_bounded,
    row_groups,
    write_table,
)
from heapfit.trace.tabular import Tabular

SCHEMA_VERSION = 1
COLUMNS = {
    "op": "uint8",
    "object": "uint32",
    "size": "uint64",
    "alignment": "uint32",
    "time": "uint64",
    "thread": "uint32",
    "site": "uint32",
}
OPTIONAL = ("needs", "served")  # columns behind these, of uint8, where the source tells them

_TARGET_RECORDER = "recorder/target"  # begins the source of what it recorded
_METADATA_KEY = b"heapfit"
_CHAINS_KEY = b"heapfit chains"  # beside it, so that schema 1 stays what it is
_ORIGIN_KEY = b"heapfit origin"  # likewise
_NAMES_KEY = b"heapfit names"  # likewise
# What commands hold in memory whole, at up to 65 bytes an event (docs/evidence/long-recordings.md).
MOST_IN_MEMORY = 32_000_000  # events
BATCH = 1 << 17  # events read, made or passed on at a time; 2 MiB as engine events

# Objects and times climb in small steps; the others repeat a few values. What a replay reads is
# packed by lz4: it reads in 7 ns an event where zstd takes 11, for 6 to 16 % more bytes.
_CLIMBING = ("object", "time")


@dataclass(frozen=True, slots=True)
class TraceInfo:
    """The metadata of a trace."""

    program: str = ""  # "" where the source does not say
    source: str = ""  # where the events come from, in words; a system's name is among them
    pointer_bits: int = 0  # 32, 64, or 0 where unknown
    kind: str = "heap"  # or "packets"
    queue: str = ""  # the queue model that turned packets into events
    events: int = 0
    notes: tuple[str, ...] = ()  # counted oddities, one sentence each
    largest_alignment: int = 0  # the largest any request asks for; 0 = none asks
    # What the source itself calls sites and tasks, by their numbers.
    names: Mapping[int, str] = field(default_factory=dict, hash=False)

    @property
    def is_from_target(self) -> bool:
        """True if the recorder for targets made it."""
        return self.source.startswith(_TARGET_RECORDER)

    @property
    def title(self) -> str:
        """What was recorded: the program, else what the source says of it."""
        return self.program or self.source_title

    @property
    def source_title(self) -> str:
        """The source as a reader knows it: the recorder for targets records firmware."""
        return self.source.replace(_TARGET_RECORDER, "firmware")


@dataclass(frozen=True, slots=True, repr=False)
class Trace(Tabular):
    """A stored trace. Its table stays on disk until it is read."""

    path: Path
    info: TraceInfo
    chains: Chains = field(default_factory=dict, compare=False)  # none: a site is a direct caller
    origin: WorkloadSpec | None = field(default=None, compare=False)  # None: a recording
    optional: tuple[str, ...] = field(default=(), compare=False)  # columns of OPTIONAL that it has
    imported_from: Path | None = field(default=None, compare=False)  # None: it was stored before

    @property
    def given(self) -> Path:
        """The file that the user named, as errors do: the one it was imported from, or its own."""
        return self.imported_from or self.path

    @classmethod
    def open(cls, path: Path | str) -> Trace:
        """The trace stored at `path`; HeapfitError if it is none, or of another version."""
        path = path if isinstance(path, Path) else Path(path)
        with open_table(path) as file:
            stored = file.metadata.metadata or {}
            metadata = stored.get(_METADATA_KEY)
            if metadata is None:
                raise HeapfitError(
                    f"{path}: Parquet, but not a heapfit trace (`heapfit import` makes one)"
                )
            info = _parse_info(metadata, path)
            optional = _require_table(file, info, path)
            require_bounded(file.metadata, path)
            with prefix_errors(path):
                chains = parse_chains(stored.get(_CHAINS_KEY))
                origin = parse_origin(stored.get(_ORIGIN_KEY))
                info = replace(info, names=parse_names(stored.get(_NAMES_KEY)))
        return cls(path, info, chains, origin, optional)

    def __str__(self) -> str:
        info = self.info
        pointers = f", recorded on {info.pointer_bits} bit" if info.pointer_bits else ""
        return f"trace {source_name(self.path)}: {format_count(info.events, 'event')}{pointers}"

    @property
    def largest_alignment(self) -> int:
        """The largest alignment any request asks for; 0 where none does."""
        return self.info.largest_alignment

    def base_alignment_for(self, least: int) -> int:
        """The alignment of a region's start for a plan that asks for `least`."""
        return max(least, self.largest_alignment)

    @property
    def fits_in_memory(self) -> bool:
        """True if commands hold it in memory; longer ones are read batch by batch, or rejected."""
        return self.info.events <= MOST_IN_MEMORY

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of all its columns, in their order."""
        return tuple(_kinds(self.optional))

    def whole(self, *columns: str) -> list[NDArray[Any]]:
        """The named columns in memory, checked; HeapfitError if they are too long for that."""
        self._require_short()
        batches = list(self.batches(columns))
        return [np.concatenate([batch[name] for batch in batches]) for name in columns]

    def bits(self, column: str) -> NDArray[np.uint8]:
        """A bit for each capability that an event `needs`, or that its memory offers (`served`).

        0 where nothing is told.
        """
        if column not in self.optional:
            return np.zeros(self.info.events, np.uint8)
        return self.whole(column)[0]

    def to_arrow(self) -> pa.Table:
        """The whole table in memory, 25 bytes an event; docs/evidence/schemas.md has the columns.

        Operations are the names of `Op`, call sites the text that commands print.
        """
        return pa.concat_tables(self._tables()).unify_dictionaries()

    def _first_rows(self) -> pa.Table:
        return next(self._tables())

    def _tables(self) -> Iterator[pa.Table]:
        schema = _schema(self.optional)
        for batch in self.batches(self.columns):
            yield name_values(
                pa.Table.from_arrays([*map(arrow_array, batch.values())], schema=schema),
                batch["op"],
                batch["site"],
            )

    def batches(self, columns: Sequence[str]) -> Iterator[dict[str, NDArray[Any]]]:
        """The named columns in file order, some 100,000 events at a time, checked."""
        check = TraceCheck()
        for batch in self._read(columns):
            with prefix_errors(self.given):
                check.take(batch)
            yield batch

    def walk(
        self,
        *more: str,
        sites: Sites | None = None,
        into: _engine.EventArray | None = None,
        step: str = "",
        progress: Progress = ignore_progress,
    ) -> Iterator[tuple[_engine.EventArray, dict[str, NDArray[Any]]]]:
        """The events as the engine reads them, batch by batch, with their columns and `more`.

        With `sites`, the tags of a plan's call sites, requests from there carry them. All are
        appended to `into`, if that is given; HeapfitError if they are too long to be in memory.
        """
        replayed = REPLAYED if self.largest_alignment else REPLAYED[:-1]
        columns = dict.fromkeys((*replayed, *(["site"] if sites else []), *more))
        if into is not None:
            self._require_short()
            into.reserve(len(into) + self.info.events)
        done, check = 0, TraceCheck()
        progress(step, 0.0)
        for batch in self._read(tuple(columns)):
            events = _engine.EventArray(done) if into is None else into
            tags = tags_of(batch["site"], sites, self.chains) if sites else None
            # The engine checks its columns here, and the order of events in a replay.
            with prefix_errors(self.given):
                check.take({name: batch[name] for name in columns if name not in REPLAYED})
                events.append(
                    batch["op"], batch["object"], batch["size"], batch.get("alignment"), tags
                )
            done += len(batch["op"])
            yield events, batch
            progress(step, done / self.info.events)

    def feed(
        self, take: Callable[[_engine.EventArray], object], step: str, progress: Progress
    ) -> None:
        """Passes all events on, batch by batch; errors that it raises name the file."""
        for events, _ in self.walk(step=step, progress=progress):
            with prefix_errors(self.given):
                take(events)

    def events(self, sites: Sites | None = None) -> _engine.EventArray:
        """The whole trace in memory, 16 bytes an event; HeapfitError if it is too long for that."""
        events = _engine.EventArray()
        for _ in self.walk(sites=sites, into=events):
            pass
        return events

    def events_for(self, plan: Plan) -> _engine.EventArray:
        """The events for a plan, with the tags of call sites if the plan has any."""
        return self.events(plan.sites)

    def _require_short(self) -> None:
        if not self.fits_in_memory:
            raise HeapfitError(
                f"{self.given}: {self.info.events:,} events are more than the {MOST_IN_MEMORY:,} "
                "that are held in memory (`heapfit fit` writes an excerpt: give that)"
            )

    def _read(self, columns: Sequence[str]) -> Iterator[dict[str, NDArray[Any]]]:
        count = 0
        with open_table(self.path) as file:
            require_true_pages(self.path, file.metadata, columns)
            for batch in file.iter_batches(BATCH, columns=list(columns), use_threads=False):
                count += batch.num_rows
                # Not by to_numpy, which imports pandas where that is installed.
                yield {name: np.from_dlpack(batch.column(name)) for name in columns}
        if count != self.info.events:
            raise HeapfitError(f"{self.path}: holds {count} of {self.info.events} events")


def write_trace(
    path: Path,
    batches: Iterable[Columns],
    info: TraceInfo | Callable[[], TraceInfo],
    chains: Callable[[], Chains] = dict,
    made_from: WorkloadSpec | Path | None = None,
) -> Trace:
    """Stores the columns of `batches` at `path`, which appears whole or not at all.

    A batch may leave columns out: of these nothing is known, and 0 is stored; but those of
    OPTIONAL, which are stored where the first batch has them. `info` may be a function, asked, as
    `chains` is, once all batches are read; events and largest_alignment are counted here.
    `made_from` is a model or the imported file, which errors name.
    """
    origin = made_from if isinstance(made_from, WorkloadSpec) else None
    imported_from = made_from if isinstance(made_from, Path) else None
    check, given = TraceCheck(), imported_from or path
    largest_alignment = 0
    ahead, optional = _look_ahead(batches)
    schema = _schema(optional)
    packers = {name: "lz4" if name in REPLAYED else "zstd" for name in schema.names}
    with (
        stage_file(path) as staging,
        write_table(staging, schema, climbing=_CLIMBING, packed_by=packers) as writer,
    ):
        for columns in row_groups(ahead, _kinds(optional)):
            with prefix_errors(given):
                check.take(columns)
            largest_alignment = max(largest_alignment, int(columns["alignment"].max()))
            table = pa.Table.from_arrays(
                [arrow_array(values) for values in columns.values()], schema=schema
            )
            writer.write_table(table, row_group_size=ROW_GROUP)
        if check.events == 0:
            raise HeapfitError(f"{given}: not written, as it would hold no event")
        counted = replace(
            info() if callable(info) else info,
            events=check.events,
            largest_alignment=largest_alignment,
        )
        known = chains()
        values = {"schema": SCHEMA_VERSION, **asdict(counted)}
        named = values.pop("names")
        metadata = {_METADATA_KEY: json.dumps(values).encode()}
        callers = {_CHAINS_KEY: known, _NAMES_KEY: named}
        made = {_ORIGIN_KEY: origin_metadata(origin)} if origin else {}
        told = {key: caller_metadata(one) for key, one in callers.items() if one}
        writer.add_key_value_metadata({**metadata, **told, **made})
    return Trace(path, counted, known, origin, optional, imported_from)


def _look_ahead(batches: Iterable[Columns]) -> tuple[Iterator[Columns], tuple[str, ...]]:
    """The batches, and the optional columns of the first one."""
    rest = iter(batches)
    first = next(rest, None)
    if first is None:
        return iter(()), ()
    return chain([first], rest), tuple(name for name in OPTIONAL if name in first)


def _require_table(file: pq.ParquetFile, info: TraceInfo, path: Path) -> tuple[str, ...]:
    """Rejects a table whose columns or length are not those of the metadata.

    Returns the optional columns that it has.
    """
    optional = tuple(name for name in OPTIONAL if name in file.schema_arrow.names)
    if not file.schema_arrow.equals(_schema(optional)):
        raise HeapfitError(
            f"{path}: its columns are not those of a trace (import the source again)"
        )
    if file.metadata.num_rows != info.events:
        raise HeapfitError(
            f"{path}: {file.metadata.num_rows} events where the metadata say {info.events} "
            "(import the source again)"
        )
    return optional


def _parse_info(metadata: bytes, path: Path) -> TraceInfo:
    """The metadata, accepted only if their types and ranges are right."""
    damaged = HeapfitError(f"{path}: its heapfit metadata are damaged (import the source again)")
    try:
        values = json.loads(metadata)
    except (ValueError, RecursionError) as error:
        raise damaged from error
    if not isinstance(values, dict) or not isinstance(values.get("schema"), int):
        raise damaged
    schema = values.pop("schema")
    if schema != SCHEMA_VERSION:
        raise HeapfitError(
            f"{path}: trace schema {schema}; this program reads {SCHEMA_VERSION} "
            "(import the source again)"
        )
    kinds = {
        **{one.name: type(one.default) for one in fields(TraceInfo) if one.name != "names"},
        "notes": list,
    }
    is_sound = (
        {name: type(value) for name, value in values.items()} == kinds
        and all(isinstance(note, str) for note in values["notes"])
        and values["pointer_bits"] in (0, 32, 64)
        and values["kind"] in ("heap", "packets")
        and values["events"] > 0
        and is_alignment(values["largest_alignment"])
    )
    if not is_sound:
        raise damaged
    return TraceInfo(**values | {"notes": tuple(values["notes"])})


def _kinds(optional: Sequence[str]) -> dict[str, str]:
    """The type of each column."""
    return COLUMNS | dict.fromkeys(optional, "uint8")


def _schema(optional: Sequence[str] = ()) -> pa.Schema:
    return pa.schema(
        pa.field(name, pa.type_for_alias(kind), nullable=False)
        for name, kind in _kinds(optional).items()
    )


@contextmanager
def prefix_errors(path: Path) -> Iterator[None]:
    """Puts the file's name before the message of an error that names the event."""
    try:
        yield
    except HeapfitError as error:
        raise HeapfitError(f"{path}: {error}") from error
