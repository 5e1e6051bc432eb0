# SPDX-License-Identifier: Apache-2.0
"""A plan: which allocator, with which tunables, pools and shared allocator."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from heapfit import _engine
from heapfit.errors import HeapfitError, did_you_mean
from heapfit.plan.quantities import LARGEST_REGION
from heapfit.plan.toml_table import TomlTable

MOST_TAGS = 31  # of call sites, from 1 on; 0 is none
SITE = re.compile(r"[0-9a-f]{8}")
_MOST_SHARED = 4  # plans inside plans


@dataclass(frozen=True, slots=True)
class Pool:
    """Equal blocks set aside together."""

    size: int  # bytes a request may have to be served here
    count: int  # blocks
    is_exact: bool  # for requests of just this size; otherwise for any that fits


@dataclass(frozen=True, slots=True)
class Plan:
    """An allocator with its tunables, pools and shared allocator; a tunable not set is standard."""

    allocator: str
    scalars: Mapping[str, int] = field(default_factory=dict)
    pools: tuple[Pool, ...] = ()
    shared: Plan | None = None  # serves what the pools do not
    sites: Mapping[int, int] = field(default_factory=dict)  # the tag of each call site with one

    def engine(self) -> _engine.Plan:
        """The plan for the engine; HeapfitError on unknown names and values out of range."""
        pools = [(pool.size, pool.count, pool.is_exact) for pool in self.pools]
        shared = None if self.shared is None else self.shared.engine()
        try:
            return _engine.Plan(self.allocator, dict(self.scalars), pools, shared)
        except HeapfitError:
            self._reject_unknown()
            raise

    def _reject_unknown(self) -> None:
        """HeapfitError for an unknown name, with the most similar known one."""
        known = {info.name: info for info in _engine.allocators()}
        if self.allocator not in known:
            about = did_you_mean(self.allocator, known)
            raise HeapfitError(f"plan: {self.allocator}: no such allocator ({about})")
        tunables = [tunable.name for tunable in known[self.allocator].tunables]
        for name in self.scalars:
            if name not in tunables:
                about = did_you_mean(name, tunables)
                raise HeapfitError(f"plan: {self.allocator}: no such tunable as '{name}' ({about})")

    def chain(self) -> Iterator[Plan]:
        """The plan and those inside it, from the outermost in."""
        yield self
        if self.shared is not None:
            yield from self.shared.chain()

    @property
    def filled_pools(self) -> tuple[Pool, ...]:
        """The pools that hold a block; a count of 0 stands for requests that go elsewhere."""
        return tuple(pool for pool in self.pools if pool.count > 0)

    @property
    def alignment(self) -> int:
        """Alignment of every block, in bytes."""
        return int(self.engine().alignment)


def plan_table(plan: Plan) -> dict[str, Any]:
    """A plan as plain tables and lists, as in the file and in --json."""
    table: dict[str, Any] = {"allocator": plan.allocator, **plan.scalars}
    if plan.pools:
        table["pools"] = [
            {"size": pool.size, "count": pool.count, "exact": pool.is_exact} for pool in plan.pools
        ]
    if plan.shared is not None:
        table["shared"] = plan_table(plan.shared)
    if plan.sites:
        table["sites"] = {f"{site:08x}": tag for site, tag in plan.sites.items()}
    return table


def read_plan(table: TomlTable, shared_left: int = _MOST_SHARED) -> Plan:
    """A plan from the table that `plan_table` makes."""
    known = {info.name: info for info in _engine.allocators()}
    allocator = table.word("allocator", known, "allocator")
    scalars: dict[str, int] = {}
    pools: tuple[Pool, ...] = ()
    shared: Plan | None = None
    for tunable in known[allocator].tunables:
        if not table.has(tunable.name):
            continue
        if tunable.kind == "scalar":
            limits = (tunable.lowest, tunable.highest)
            scalars[tunable.name] = table.read_or_note(0, table.whole, tunable.name, *limits)
        elif tunable.kind == "pools":
            pools = tuple(map(_read_pool, table.read_or_note([], table.tables, tunable.name)))
        elif shared_left == 0:
            table.reject(tunable.name, f"more than {_MOST_SHARED} plans inside each other")
        else:
            shared = table.read_or_note(
                None, lambda key: read_plan(table.table(key), shared_left - 1), tunable.name
            )
    has_sites = known[allocator].takes_tags and table.has("sites")
    sites = table.read_or_note({}, read_sites, table) if has_sites else {}
    table.finish()
    return Plan(allocator, scalars, pools, shared, sites)


def read_sites(table: TomlTable, most: int = MOST_TAGS) -> dict[int, int]:
    """The tags, 1 to `most`, of call sites in the table `sites`."""
    listed = table.table("sites")
    sites = {}
    for key in list(listed.keys()):
        tag = listed.read_or_note(0, listed.whole, key, 1, most)
        if SITE.fullmatch(key):
            sites[int(key, 16)] = tag
        else:
            reason = "must be the eight hexadecimal digits of a call site"
            listed.read_or_note(None, listed.reject, key, reason)
    listed.finish()
    return sites


def _read_pool(table: TomlTable) -> Pool:
    size = table.read_or_note(0, table.whole, "size", 1, LARGEST_REGION)
    count = table.read_or_note(0, table.whole, "count", 0, LARGEST_REGION)
    is_exact = table.read_or_note(False, table.truth, "exact")
    table.finish()
    return Pool(size, count, is_exact)
