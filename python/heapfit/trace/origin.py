# SPDX-License-Identifier: Apache-2.0
"""The synthetic workload that made a trace, stored in its metadata; a recording has none."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from heapfit import _engine
from heapfit.errors import HeapfitError, did_you_mean
from heapfit.json_records import DAMAGED, restore_record

STANDARD_SEED = 1
_MAKER = "workload"  # the kind of program that made the events: there is no other


@dataclass(frozen=True, slots=True)
class WorkloadSpec:
    """A workload with the parameters that differ from the standard, and its seed."""

    name: str
    seed: int = STANDARD_SEED
    parameters: Mapping[str, int] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """The workload in the syntax of the command line: "t2_w1", or "t2_w1:limit=3"."""
        given = ",".join(f"{name}={value}" for name, value in self.parameters.items())
        return f"{self.name}:{given}" if given else self.name

    def source(self) -> _engine.WorkloadSource:
        """The workload's events; HeapfitError for an unknown workload, parameter or value."""
        if not 0 <= self.seed < 1 << 64:
            raise HeapfitError(f"seed={self.seed}: must be from 0 to 2^64 - 1")
        known = {info.name: info for info in _engine.workloads()}
        if self.name not in known:
            raise HeapfitError(
                f"workload: none is named '{self.name}' ({did_you_mean(self.name, known)})"
            )
        parameters = [parameter.name for parameter in known[self.name].parameters]
        for name in self.parameters:
            if name not in parameters:
                about = did_you_mean(name, parameters)
                raise HeapfitError(
                    f"workload {self.name}: no parameter is named '{name}' ({about})"
                )
        return _engine.WorkloadSource(self.name, dict(self.parameters), self.seed)


def parse_origin(metadata: bytes | None) -> WorkloadSpec | None:
    """The workload in a trace's metadata, None for recordings; HeapfitError if it is damaged."""
    if metadata is None:
        return None
    try:
        stored = json.loads(metadata)
        if stored["maker"] != _MAKER:
            raise ValueError
        origin: WorkloadSpec = restore_record(WorkloadSpec, stored)
    except DAMAGED as error:
        raise HeapfitError("its origin is damaged (import the source again)") from error
    return origin


def origin_metadata(origin: WorkloadSpec) -> bytes:
    """The workload as metadata that `parse_origin` reads."""
    told = {"seed": origin.seed, "name": origin.name, "parameters": origin.parameters}
    return json.dumps({"maker": _MAKER, **told}).encode()
