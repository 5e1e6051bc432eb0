# SPDX-License-Identifier: Apache-2.0
"""A plan file: a plan together with what it was made from.

It is TOML, to be read, edited or written by hand; docs/evidence/schemas.md describes every key.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import tomli_w

from heapfit.errors import HeapfitError
from heapfit.outputs import ours
from heapfit.outputs.file import write_file
from heapfit.plan.brief import Brief
from heapfit.plan.memories import MemoriesPlan, memories_tables, read_memories
from heapfit.plan.plan import Plan, plan_table, read_plan
from heapfit.plan.quantities import LARGEST_REGION, MOST_MARGIN
from heapfit.plan.toml_table import LARGEST_COUNT, FileKind, TomlTable, read_document

SCHEMA = 1
KIND = FileKind("plan", "docs/evidence/schemas.md")
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")
_MUST_NAME = "be a letter, then letters, digits, _ and -, not {}"
_CONTENT = re.compile(r"sha256:[0-9a-f]{64}")
_MUST_CONTENT = "be sha256: and 64 hexadecimal digits"
_TRACE_KIND = re.compile("heap|packets")
_MUST_KIND = 'be "heap" or "packets", not {}'
_SEAL = "sha256 "
_SEALED = re.compile(rf"(?:#[^\n]*\n){{2}}#[^\n]*{_SEAL}([0-9a-f]{{64}})[^\n]*\n")


@dataclass(frozen=True, slots=True)
class TrainingTrace:
    """A recording that a plan was made from."""

    trace: str  # its name, for people; printable
    content: str  # heapfit.trace.content.content_hash: equal for equal requests


@dataclass(frozen=True, slots=True)
class TrainingRecord(TrainingTrace):
    """The recording that a plan was made from; several count as one, each after the other."""

    events: int
    kind: str = "heap"  # or "packets"
    traces: tuple[TrainingTrace, ...] = ()  # each of several
    program: str = ""  # that was recorded; "" where no recording says it

    def has_seen(self, content: str) -> bool:
        """True if the plan was made from a trace of this content, alone or among others."""
        return content in {self.content, *(seen.content for seen in self.traces)}


BY_HAND = TrainingRecord("no recording (written by hand)", "", 0)


@dataclass(frozen=True, slots=True, repr=False)
class PlanFile(Brief):
    """A plan with all that generate, compare and a reader need to know of it. Sizes in bytes."""

    name: str  # a letter, then letters, digits, "_" and "-"; at most 64
    plan: Plan
    region: int | None  # what to set the heap to, its margin included; None: none was found
    r_min: int | None
    base_alignment: int  # of the region's start: at least the plan's and the trace's largest
    u_max: int  # most live bytes of the trace; 0 where the plan is of none
    pointer_bits: int  # of the recorded program: 32, 64 or 0 (unknown)
    trained_on: TrainingRecord
    heapfit_version: str  # that wrote it; "": written by hand
    r_safe: int | None = None  # R_safe on what it was trained on; None: unknown
    peak: int | None = None  # live bytes that `region` is for; None: u_max
    margin: float | None = None  # percent of `region` beyond what these need; None: unknown
    heap: str = ""  # a system's own, as `fit --now` takes it, whose blocks `plan` places; "": none
    setting: str = ""  # of that heap: `region` and R are in its bytes
    memories: MemoriesPlan | None = None  # several; `plan` and `region` are the first one's

    @property
    def runs(self) -> int:
        """The number of recordings that the plan was made from."""
        return 0 if self.trained_on == BY_HAND else max(len(self.trained_on.traces), 1)


def plan_text(plan_file: PlanFile) -> str:
    """The text of a plan file: comments, with a hash of the rest, then TOML."""
    rest = tomli_w.dumps(_document(plan_file))
    return (
        "# A heapfit plan; docs/evidence/schemas.md describes every key. Sizes are in bytes.\n"
        "# After an edit, `heapfit compare TRACE --plan THIS` prints the region it needs now.\n"
        f"# As written {_SEAL}{_hash(rest)}: once edited, it is not overwritten.\n{rest}"
    )


def save_plan(path: Path | str, plan_file: PlanFile) -> None:
    """Writes a plan file, staged and then renamed; HeapfitError if it would replace an edit."""
    write_file(Path(path), plan_text(plan_file).encode(), require_unedited)


def require_unedited(path: Path) -> None:
    """HeapfitError if a file is there that is not what `save_plan` wrote, but for ends of lines."""
    ours.require_file(path)
    if not path.exists() or ours.is_forced():
        return
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError):
        text = ""
    sealed = _SEALED.match(text)
    if not sealed or _hash(text[sealed.end() :]) != sealed[1]:
        raise HeapfitError(
            f"{path}: was edited, or not written by this heapfit, so it is not overwritten "
            "(move it away, choose another place, or give --force)"
        )


def require_our_entry(entry: Path) -> None:
    """HeapfitError if an entry of an output folder, a plan or another file, may not be replaced."""
    if entry.suffix == ".toml":
        require_unedited(entry)
    else:
        ours.require_replaceable(entry)


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def load_plan(path: Path | str, *, takes_memories: bool = False) -> PlanFile:
    """Reads a plan file; HeapfitError lists every fault: the file, the key and what to do.

    So is a plan of several memories, unless the caller takes one.
    """
    path = Path(path)
    top = TomlTable(path, KIND, "", read_document(path, KIND))
    if top.has("schema"):
        top.require_version(SCHEMA, " (make it anew with heapfit fit)")
    top.collect_errors()
    plan_file = _read_plan_file(top, path)
    top.finish()
    top.raise_collected()
    plan_file = _fill_alignment(top, plan_file)
    for key, reason in _find_contradictions(plan_file):
        top.read_or_note(None, top.reject, key, reason)
    top.raise_collected()
    if plan_file.memories is not None and not takes_memories:
        raise HeapfitError(
            f"{path}: is a plan of several memories (`heapfit check` and `generate` take those)"
        )
    return plan_file


def _document(plan_file: PlanFile) -> dict[str, Any]:
    found = {
        "region": None if plan_file.memories else plan_file.region,
        "peak": plan_file.peak,
        "margin": plan_file.margin,
        "r_safe": plan_file.r_safe,
        "r_min": plan_file.r_min,
    }
    return {
        "schema": SCHEMA,
        "name": plan_file.name,
        **({"heapfit": plan_file.heapfit_version} if plan_file.heapfit_version else {}),
        **({"heap": plan_file.heap, "setting": plan_file.setting} if plan_file.heap else {}),
        **{key: value for key, value in found.items() if value is not None},
        "base_alignment": plan_file.base_alignment,
        "u_max": plan_file.u_max,
        "pointer_bits": plan_file.pointer_bits,
        **({"trained_on": _training_table(plan_file.trained_on)} if plan_file.runs else {}),
        **(
            memories_tables(plan_file.memories)
            if plan_file.memories
            else {"plan": plan_table(plan_file.plan)}
        ),
    }


def _training_table(trained_on: TrainingRecord) -> dict[str, Any]:
    table = asdict(trained_on)
    table["traces"] = list(table["traces"])
    return {key: table[key] for key in table if table[key] or key not in ("traces", "program")}


def _read_plan_file(top: TomlTable, path: Path) -> PlanFile:
    """The plan file of a table; an absent key has its default, a rejected one a stand-in."""

    def whole(key: str, lowest: int, highest: int) -> int | None:
        return top.read_or_note(None, top.whole, key, lowest, highest) if top.has(key) else None

    memories = top.read_or_note(None, read_memories, top) if top.has("memories") else None
    trained_on = (
        top.read_or_note(BY_HAND, _read_training_record, top) if top.has("trained_on") else BY_HAND
    )
    return PlanFile(
        name=top.read_or_note("", top.text, "name", form=_NAME, must=_MUST_NAME)
        if top.has("name")
        else _name_of(path),
        plan=memories.memories[0].plan
        if memories
        else top.read_or_note(Plan(""), lambda: read_plan(top.table("plan"))),
        region=memories.memories[0].size if memories else whole("region", 1, LARGEST_REGION),
        r_min=whole("r_min", 1, LARGEST_REGION),
        base_alignment=top.read_or_note(0, _read_base_alignment, top)
        if top.has("base_alignment")
        else 0,
        u_max=whole("u_max", 0, LARGEST_COUNT) or 0,
        pointer_bits=top.read_or_note(0, _read_pointer_bits, top) if top.has("pointer_bits") else 0,
        trained_on=trained_on,
        heapfit_version=top.read_or_note("", top.text, "heapfit") if top.has("heapfit") else "",
        r_safe=whole("r_safe", 1, LARGEST_REGION),
        peak=whole("peak", 0, LARGEST_COUNT),
        margin=top.read_or_note(None, top.number, "margin", 0, MOST_MARGIN)
        if top.has("margin")
        else None,
        heap=top.read_or_note("", top.text, "heap") if top.has("heap") else "",
        setting=top.read_or_note("", top.text, "setting") if top.has("setting") else "",
        memories=memories,
    )


def file_name(name: str) -> str:
    """A row's name as the name of a plan and its file: other characters become "-".

    >>> file_name("tlsf:second_level=5:probes=0")
    'tlsf-second_level-5-probes-0'
    """
    return re.sub(r"[^A-Za-z0-9_-]", "-", name)[:64]


def _name_of(path: Path) -> str:
    """The plan name that the file's own name gives.

    >>> _name_of(Path("tlsf 8.toml")), _name_of(Path("8.toml"))
    ('tlsf_8', 'plan_8')
    """
    stem = re.sub(r"[^A-Za-z0-9_-]", "_", path.stem)
    return (stem if _NAME.match(stem) else f"plan_{stem}")[:64]


def _read_base_alignment(top: TomlTable) -> int:
    alignment = top.whole("base_alignment", 4, 2**31)
    if alignment & (alignment - 1):
        top.reject("base_alignment", f"must be a power of two, not {alignment}")
    return alignment


def _read_pointer_bits(top: TomlTable) -> int:
    bits = top.whole("pointer_bits", 0, 64)
    if bits not in (0, 32, 64):
        top.reject("pointer_bits", f"must be 32, 64 or 0 (unknown), not {bits}")
    return bits


def _read_training_record(top: TomlTable) -> TrainingRecord:
    table = top.table("trained_on")
    trace, content = _read_training_trace(table)
    events = table.read_or_note(0, table.whole, "events", 0, LARGEST_COUNT)
    kind = table.read_or_note("heap", table.text, "kind", form=_TRACE_KIND, must=_MUST_KIND)
    tables = table.read_or_note([], table.tables, "traces") if table.has("traces") else []
    program = table.read_or_note("", table.text, "program") if table.has("program") else ""
    table.finish()
    traces = []
    for one in tables:
        traces.append(TrainingTrace(*_read_training_trace(one)))
        one.finish()
    return TrainingRecord(trace, content, events, kind, tuple(traces), program)


def _read_training_trace(table: TomlTable) -> tuple[str, str]:
    """The name and the content's hash of a recording."""
    return (
        table.read_or_note("", table.text, "trace"),
        table.read_or_note("", table.text, "content", form=_CONTENT, must=_MUST_CONTENT),
    )


def _fill_alignment(top: TomlTable, plan_file: PlanFile) -> PlanFile:
    """The plan file with the plan's alignment if it sets none; HeapfitError on a bad plan."""
    try:
        alignment = plan_file.plan.engine().alignment
    except HeapfitError as error:
        top.reject("plan", str(error))
    return replace(plan_file, base_alignment=plan_file.base_alignment or int(alignment))


def _find_contradictions(file: PlanFile) -> Iterator[tuple[str, str]]:
    """Keys whose figures contradict others or the plan, as after an edit of one, and why."""
    engine_plan = file.plan.engine()
    base, smallest = file.base_alignment, engine_plan.smallest_region
    peak, u_max, region = file.peak or 0, file.u_max, file.region
    if base < engine_plan.alignment:
        below = f"{base} is below the plan's alignment of {engine_plan.alignment}"
        yield "base_alignment", below
    sizes = {"region": region, "r_safe": file.r_safe, "r_min": file.r_min}
    # The sizes of a system's heap are in bytes of its own setting.
    known = {} if file.heap else {key: size for key, size in sizes.items() if size is not None}
    for key, size in known.items():
        if size < smallest:
            yield (
                key,
                f"{size} is below the {smallest} bytes this plan needs to start "
                "(`heapfit compare TRACE --plan` prints the region it needs)",
            )
    serves_all = file.r_safe is None or file.r_safe >= u_max  # not a quantile of the recordings
    if smallest <= known.get("region", 0) < peak and serves_all:
        yield "region", f"{region} is below the {peak} live bytes of peak (raise it)"
    if peak and peak < u_max:
        reason = f"{peak} is below the {u_max} live bytes of u_max (leave it out, or raise it)"
        yield "peak", reason
    if file.r_min and file.r_safe and file.r_min > file.r_safe:
        yield "r_min", f"{file.r_min} is above r_safe, {file.r_safe} (leave it out, or lower it)"


def pointer_size_warning(kind: str, pointer_bits: int) -> str | None:
    """One sentence for a heap not recorded on 32 bit, None otherwise.

    >>> pointer_size_warning("packets", 0)
    """
    if kind != "heap" or pointer_bits == 32:
        return None
    wide = f"on {pointer_bits} bit: sizes differ on 32; record on the target before you ship"
    unknown = "with pointers of unknown size: import --pointer-bits 32 says a 32-bit target's"
    return f"recorded {wide if pointer_bits else unknown}"
