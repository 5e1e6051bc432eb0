# SPDX-License-Identifier: Apache-2.0
"""Two examples of each command, as help and the man page show them; tests run them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

EXAMPLES: Final[Mapping[str, tuple[str, str]]] = MappingProxyType(
    {
        "fit": (
            "heapfit fit run.heap",
            "heapfit fit run.heap run2.heap --now heap_4",
        ),
        "check": (
            "heapfit check run2.heap --plan plan.toml",
            "heapfit check run2.heap --plan plan.toml --base run.heap --growth 5%",
        ),
        "verify": (
            "heapfit verify plan.toml --qemu firmware.elf --build 'make HEAP={code}'",
            "heapfit verify plan.toml --qemu image.elf --build ./build --times 3 -- {run}",
        ),
        "generate": (
            "heapfit generate plan.toml",
            "heapfit generate plan.toml --language c++ -o heap",
        ),
        "record": (
            "heapfit record -o mine.parquet -- ls /",
            "heapfit record --environment recordings",
        ),
        "import": (
            "heapfit import run.heap run2.heap -o traces",
            "heapfit import capture.pcap --queue fifo:1000",
        ),
        "workload": (
            "heapfit workload",
            "heapfit workload t2_w1:events=500 --seed 7 -o walk.parquet",
        ),
        "profile": ("heapfit profile run.heap", "heapfit profile run.heap -o live.parquet"),
        "sites": ("heapfit sites run.heap", "heapfit sites run.heap --json"),
        "compare": (
            "heapfit compare run.heap tlsf first_fit:coalesce=0",
            "heapfit compare run.heap run2.heap tlsf --alignment 4 --output league",
        ),
        "bounds": (
            "heapfit bounds run.heap --search 0",
            "heapfit bounds run.heap --search 1 -o run.csv",
        ),
        "adversary": (
            "heapfit adversary run.heap tlsf --search 1",
            "heapfit adversary run.heap --plan plan.toml --search 1",
        ),
        "allocators": ("heapfit allocators", "heapfit allocators tlsf"),
        "size": (
            "heapfit size capture.pcap --queue fifo:1000 --admission 0.99",
            "heapfit size scenario.toml --admission 0.9",
        ),
        "settings": (
            "heapfit settings lwip run.heap run2.heap",
            "heapfit settings freertos run.heap --assume alignment=4",
        ),
        "simulate": (
            "heapfit simulate scenario.toml",
            "heapfit simulate scenario.toml --closed-form --report curves.html",
        ),
    }
)


def examples_of(name: str, module: object) -> tuple[str, ...]:
    """The examples of a command, from its module if that has any, as other packages' have."""
    found: tuple[str, ...] = getattr(module, "EXAMPLES", EXAMPLES.get(name, ()))
    return found
