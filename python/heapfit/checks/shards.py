# SPDX-License-Identifier: Apache-2.0
"""Parts of one check, each done by itself, and joined from their JSON as if they were one.

check runs/0* --plan P --json > a.json     any machines, at any time
check runs/1* --plan P --json > b.json
check --merge a.json b.json --plan P       the answer of check runs/* --plan P
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from heapfit import _engine
from heapfit.checks.check import Base, Check, CheckedRecording, CheckOptions
from heapfit.errors import HeapfitError, read_error_reason
from heapfit.json_records import DAMAGED, restore_record
from heapfit.plan.plan_file import PlanFile
from heapfit.trace.names import make_distinct


def shard_of(check: Check) -> dict[str, object]:
    """What a check tells of itself to be joined with others."""
    return {
        "check": _identity(check.plan),
        "growth": check.options.growth,
        "strict": check.options.is_strict,
        "base": check.base,
        "recordings": check.recordings,
    }


def merge(paths: Sequence[Path], plan: PlanFile) -> Check:
    """The check of all recordings that were checked in parts, in the order of the files.

    HeapfitError if a file is no check's, or one by another plan, version, base or limit.
    """
    shards = [_read(path, plan) for path in paths]
    same = [(base, growth, strict) for base, growth, strict, _ in shards]
    for path, one in zip(paths, same, strict=True):
        if one != same[0]:
            raise HeapfitError(f"{path}: was checked with another base, --growth or --strict")
    base, growth, strict = same[0]
    recordings = [one for *_, some in shards for one in some]
    names = make_distinct([one.run.name for one in recordings])
    named = (
        replace(one, run=replace(one.run, name=name))
        for one, name in zip(recordings, names, strict=True)
    )
    return Check(plan, base, tuple(named), CheckOptions(growth=growth, is_strict=strict))


def _read(path: Path, plan: PlanFile) -> tuple[Base | None, Any, Any, tuple[CheckedRecording, ...]]:
    try:
        shard = json.loads(path.read_bytes())["shard"]  # also UTF-16, as Windows has it
        if shard["check"] != _identity(plan):
            raise HeapfitError(f"{path}: was checked by another plan, or by another heapfit")
        recordings = restore_record(tuple[CheckedRecording, ...], shard["recordings"])
        return (
            restore_record(Base | None, shard["base"]),
            shard["growth"],
            shard["strict"],
            recordings,
        )
    except OSError as error:
        raise HeapfitError(f"{path}: {read_error_reason(error)}") from error
    except DAMAGED as error:
        raise HeapfitError(f"{path}: is no result of `heapfit check --json` with a plan") from error


def _identity(plan: PlanFile) -> str:
    """A hash of version and plan: equal where the same check would be made."""
    return hashlib.sha256(f"{_engine.version} {plan!r}".encode()).hexdigest()
