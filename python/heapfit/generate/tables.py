# SPDX-License-Identifier: Apache-2.0
"""A plan as the const structs of core, which the templates print.

A plan that has a shared allocator becomes a chain of structs. An allocator's struct is named by its
tunables, as core's headers do it: `hfit_plan` if it has the alignment alone, `hfit_pools_plan` if
it has pools, otherwise `hfit_<allocator>_plan` with one word for each scalar.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass, replace

from heapfit import _engine
from heapfit.comparison.incumbents.heap_names import TLSF
from heapfit.errors import HeapfitError
from heapfit.generate.core_files import source_names
from heapfit.generate.names import Text, comment_text, core_word, make_identifier
from heapfit.generate.options import DEFAULT_OPTIONS, GenerateOptions
from heapfit.plan.allocators import find_allocators, splits_blocks, takes
from heapfit.plan.plan import Plan
from heapfit.plan.plan_file import PlanFile, pointer_size_warning
from heapfit.plan.quantities import LARGEST_REGION
from heapfit.plan.targets import GUARD, PLATFORMS, require_platform

_LARGEST_BASE_ALIGNMENT = 2**28  # bytes; compilers take no more
_WORD = 4  # bytes of a number or of a pointer on a 32-bit target
# The words of an hfit_pool; sizes and offsets in bytes, is_exact 1 or 0, as in C.
_POOL = ("size", "count", "is_exact", "base", "block_size", "used_bit", "inverse", "turn")
_POOLS_PLAN_WORDS = 14  # hfit_pools_plan: alignment, list 3, shared 2, index 5, scalars 2, seal
_OPERATIONS_WORDS = 12  # hfit_operations
_GUARD_REGION = 2048  # bytes: the places of freed blocks that wait, and more
# What else of a plan says how a heap lies in memory.
_LAYOUT = ("header_size", "block_size", "partition_size", "overhead", "metadata", "layout")
_POOL_LAYOUT = ("base", "count", "block_size", "used_bit")  # of a pool that is alone


@dataclass(frozen=True, slots=True)
class PlanTable:
    """One plan struct of the generated C."""

    name: Text
    struct: Text
    allocator: Text
    alignment: int
    scalars: tuple[tuple[Text, int], ...]  # without the alignment
    takes_pools: bool
    pools: tuple[dict[str, int], ...]  # by _POOL
    index: _engine.PoolIndex | None  # and the seal
    shared: PlanTable | None

    @property
    def pointer(self) -> Text:
        """A C expression for the address of the part that all plans have in common."""
        return Text(f"&{self.name}" if self.struct == "hfit_plan" else f"&{self.name}.common")

    @property
    def blocks(self) -> int:
        """The number of blocks of all pools."""
        return sum(pool["count"] for pool in self.pools)

    @property
    def pools_end(self) -> int:
        """Offset just behind the last pool."""
        last = self.pools[-1]
        return last["base"] + last["count"] * last["block_size"]

    def chain(self) -> Iterator[PlanTable]:
        """The structs of a chain, this one last and the innermost first, as C requires."""
        if self.shared is not None:
            yield from self.shared.chain()
        yield self

    def rom(self) -> int:
        """Bytes of const data on a 32-bit target, the shared allocators' operations included."""
        tables = list(self.chain())
        words = _OPERATIONS_WORDS * (len(tables) - 1) + sum(
            (_POOLS_PLAN_WORDS if one.takes_pools else 1 + len(one.scalars))
            + len(_POOL) * len(one.pools)
            for one in tables
        )
        return words * _WORD + sum(len(one.index.table) for one in tables if one.index is not None)


@dataclass(frozen=True, slots=True)
class HeapDesign:
    """The data of all templates of a generated folder; sizes in bytes."""

    prefix: Text
    plan: PlanTable
    plan_name: Text
    trained_on: Text
    warning: Text  # what is to be said of the recording; mostly empty
    region: int  # what to set the heap to
    peak: int  # live bytes that the region is for; 0: unknown
    margin: Text  # percent; empty: unknown
    stamp: Text  # eight hexadecimal digits that differ between designs
    sites: tuple[tuple[int, Text], ...]  # tags, and the call sites they stand for
    header: int  # bytes in front of a block; 0 for a heap behind pools
    platforms: tuple[str, ...]  # that it has files for
    file: PlanFile  # for its numbers: a name is taken from above
    options: GenerateOptions

    @property
    def allocators(self) -> list[Text]:
        """The names of the allocators that it uses, from the outermost inwards."""
        return list(dict.fromkeys(table.allocator for table in reversed([*self.plan.chain()])))

    @property
    def record(self) -> Text:
        """The name of the heap's own variable: by it a memory image is read (layouts.toml)."""
        inner = next(self.plan.chain())
        figures = [inner.alignment, *(value for name, value in inner.scalars if name in _LAYOUT)]
        pools = [pool for table in self.plan.chain() for pool in table.pools]
        # With -flto the table of one pool is no more in the program.
        of_pool = "".join(f"_{pools[0][one]}" for one in _POOL_LAYOUT * (len(pools) == 1))
        names = "_over_".join([self.allocators[0] + of_pool, *self.allocators[1:]])
        return Text(
            "_".join(
                [
                    *(self.prefix, "heap_of", *["guarded"] * self.is_guarded),
                    *(names, *map(str, figures)),
                ]
            )
        )

    @property
    def sources(self) -> list[Text]:
        """The allocators' sources, as names in the folder."""
        return source_names(self.allocators)

    @property
    def has_own_sources(self) -> bool:
        """True if each allocator serves only one struct, so that its source can be built for it."""
        return len(self.allocators) == len([*self.plan.chain()])

    @property
    def is_one_file(self) -> bool:
        """True if its C is one file."""
        return any(PLATFORMS[one].is_one_file for one in self.platforms)

    @property
    def is_pools_alone(self) -> bool:
        """True if pools serve all that is served: no heap is behind them."""
        return self.plan.blocks > 0 and self.plan.shared is None

    @property
    def is_guarded(self) -> bool:
        """True if it is built to name the block of a misuse, who asked for it and who freed it."""
        return GUARD in self.platforms

    @property
    def tells_calls(self) -> bool:
        """True if what each call got and gave up is passed on."""
        return self.options.records or self.is_guarded

    @property
    def window_unit(self) -> int:
        """The least log2 of a unit in which 16 bits hold the region."""
        return max(0, self.region.bit_length() - 16)

    @property
    def needs_size(self) -> bool:
        """True if callers pass a block's size when they free or resize it."""
        return find_allocators([self.plan.allocator])[0].needs_size


def make_shipped_design(plan_file: PlanFile, prefix: Text, options: GenerateOptions) -> HeapDesign:
    """The design of a folder for users, with the region and the guard that the options ask for.

    HeapfitError also if the plan's code is not shipped, or callers of malloc cannot use it.
    """
    require_shipped(plan_file.plan, plan_file.name)
    require_whole_blocks(plan_file)
    if GUARD in options.platforms:  # TLSF, whatever the plan, and room beside the blocks
        region = options.region or 8 * ((plan_file.region or 0) * 3 // 16) + _GUARD_REGION
        plan = Plan(TLSF, {"alignment": plan_file.plan.alignment})
        plan_file = replace(plan_file, plan=plan, region=region, margin=None)
    elif options.region is not None:  # nothing was tried for it
        plan_file = replace(plan_file, region=options.region, margin=None)
    return design_from_plan_file(plan_file, prefix, options)


def design_from_plan_file(
    plan_file: PlanFile, prefix: Text, options: GenerateOptions = DEFAULT_OPTIONS
) -> HeapDesign:
    """The design that a plan file gives; HeapfitError if it cannot become a heap."""
    engine_plan, trained = plan_file.plan.engine(), plan_file.trained_on
    region = _require_region(plan_file, engine_plan)
    name = make_identifier(Text(f"{prefix}_plan"), plan_file.name)
    table = plan_table_of(engine_plan, name)
    sites = [(tag, Text(f"{site:08x}")) for site, tag in plan_file.plan.sites.items()]
    sites.sort()
    holes = engine_plan.holes(1)
    platforms = tuple(require_platform(name) for name in dict.fromkeys(options.platforms))
    counts = options.counts or options.records or any(PLATFORMS[one].counts for one in platforms)
    forms = (("counts", counts), ("given", options.is_given), ("records", options.records))
    named = [name for name, is_set in forms if is_set]
    figures = [prefix, region, plan_file.base_alignment, plan_figures(table), *sites, *named]
    return HeapDesign(
        prefix=prefix,
        plan=table,
        plan_name=comment_text(plan_file.name),
        trained_on=comment_text(trained.trace),
        warning=Text(pointer_size_warning(trained.kind, plan_file.pointer_bits) or ""),
        region=region,
        peak=plan_file.u_max if plan_file.peak is None else plan_file.peak,
        margin=Text("" if plan_file.margin is None else f"{plan_file.margin:g}"),
        stamp=Text(hashlib.sha256(json.dumps(figures).encode()).hexdigest()[:8]),
        sites=tuple(sites),
        header=0 if holes is None else holes.header,
        platforms=platforms,
        file=plan_file,
        options=replace(options, counts=counts),
    )


def require_shipped(plan: Plan, name: str) -> None:
    """HeapfitError for a baseline, which is for comparison and has no code to generate."""
    shipped = [info.name for info in _engine.allocators() if info.ships]
    for one in plan.chain():
        if one.allocator not in shipped:
            raise HeapfitError(
                f"plan {comment_text(name)}: {one.allocator} is a baseline for comparison "
                f"and is not shipped (choose one of {', '.join(shipped)})"
            )


def require_whole_blocks(plan_file: PlanFile) -> None:
    """HeapfitError if blocks lie in pieces: callers of malloc need each block in one piece."""
    allocator = plan_file.plan.allocator
    if splits_blocks(plan_file.plan):
        raise HeapfitError(
            f"plan {comment_text(plan_file.name)}: blocks of {allocator} lie in pieces, which a "
            f"malloc cannot give (call hfit_{allocator}_alloc and hfit_{allocator}_next_piece)"
        )


def _require_region(plan_file: PlanFile, engine_plan: _engine.Plan) -> int:
    name = comment_text(plan_file.name)
    region, base = plan_file.region, plan_file.base_alignment
    if region is None:
        raise HeapfitError(
            f"plan {name}: has no region size (write one into the plan as region, or fit it to a "
            "trace: heapfit fit)"
        )
    if not engine_plan.smallest_region <= region <= LARGEST_REGION:
        raise HeapfitError(
            f"plan {name}: a region of {region} bytes cannot hold it (at least "
            f"{engine_plan.smallest_region}, at most {LARGEST_REGION})"
        )
    if not engine_plan.alignment <= base <= _LARGEST_BASE_ALIGNMENT or base & (base - 1):
        raise HeapfitError(
            f"plan {name}: base alignment {base} must be a power of two from "
            f"{engine_plan.alignment} to {_LARGEST_BASE_ALIGNMENT}"
        )
    return region


def plan_table_of(plan: _engine.Plan, name: Text) -> PlanTable:
    """The struct of a plan, and of the plans inside it."""
    allocator = core_word(plan.allocator)
    (info,) = find_allocators([allocator])
    takes_pools = takes(info, "pools")
    scalars = tuple(
        (core_word(tunable.name), plan.scalars[tunable.name])
        for tunable in info.tunables
        if tunable.kind == "scalar" and tunable.name != "alignment"
    )
    plain = Text(f"hfit_{allocator}_plan" if scalars else "hfit_plan")
    return PlanTable(
        name=name,
        struct=Text("hfit_pools_plan") if takes_pools else plain,
        allocator=allocator,
        alignment=plan.alignment,
        scalars=scalars,
        takes_pools=takes_pools,
        pools=tuple(dict(zip(_POOL, row, strict=True)) for row in plan.pool_rows),
        index=plan.pool_index,
        shared=None if plan.shared is None else plan_table_of(plan.shared, Text(f"{name}_shared")),
    )


def plan_figures(table: PlanTable) -> list[object]:
    """What tells two chains of plan structs apart."""
    return [
        [
            each.allocator,
            each.alignment,
            each.scalars,
            [(pool["size"], pool["count"], pool["is_exact"]) for pool in each.pools],
        ]
        for each in table.chain()
    ]
