# SPDX-License-Identifier: Apache-2.0
"""What the memories of a plan served, as parts."""

from __future__ import annotations

from heapfit.memories.joint import Joint, MemoryUse
from heapfit.plan.quantities import format_share
from heapfit.results.parts import Column, Fields, Line, Part, Table


def joint_parts(joint: Joint) -> list[Part]:
    """The refusal if there is one, and a row for each memory."""
    columns: list[Column[MemoryUse]] = [
        Column("name", "memory"),
        Column("size", "bytes"),
        Column("footprint", "used"),
        Column("live_peak", "live at most"),
        Column("requests", "requests"),
        Column(
            "byte_share",
            "bytes x life",
            lambda one: joint.byte_share([one.name]),
            lambda one: format_share(joint.byte_share([one.name])),
        ),
    ]
    return [
        Fields({"holds": joint.refusal is None, "refusal": joint.refusal}),
        Line(joint.refusal or "All requests are served."),
        Table(columns, joint.uses, "memories"),
    ]
