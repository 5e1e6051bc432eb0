# SPDX-License-Identifier: Apache-2.0
"""Exports of text: folded stacks for flame graphs and speedscope, counts for Prometheus."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from heapfit.trace.exports.samples import Frame, Holdings


def fold_stacks(holdings: Holdings) -> str:
    """A line for each stack, outermost first, and the bytes it holds. Equal stacks are one line."""
    held: dict[str, int] = {}
    for sample in holdings.samples:
        names = (frame.name.replace(";", ":") for frame in reversed(sample.stack))
        line = ";".join((holdings.program.replace(";", ":"), *names))
        held[line] = held.get(line, 0) + sample.holder.size
    return "".join(f"{line} {size}\n" for line, size in held.items() if size)


def list_metrics(holdings: Holdings) -> str:
    """Counts as Prometheus text: of each sample, and of the whole recording."""
    lines: list[str] = []
    view = f"held in the view {holdings.viewed.view}"
    for name, kind, meaning in (
        ("blocks", "gauge", f"Blocks {view}"),
        ("bytes", "gauge", f"Bytes {view}"),
        ("requests_total", "counter", "Requests of the whole recording"),
        ("requested_bytes_total", "counter", "Bytes of these"),
    ):
        lines += [f"# HELP heapfit_{name} {meaning}.", f"# TYPE heapfit_{name} {kind}"]
        lines += _values(name, holdings)
    return "".join(f"{line}\n" for line in lines)


def _values(name: str, holdings: Holdings) -> Iterator[str]:
    field = {"bytes": "size", "requests_total": "requests", "requested_bytes_total": "requested"}
    for sample in holdings.samples:
        where = [("place", _describe(sample.stack[0]))] if sample.stack[0].file else []
        key = f"{sample.holder.key:08x}" if holdings.label == "site" else str(sample.holder.key)
        labels = _labels([("program", holdings.program), (holdings.label, key), *where])
        yield f"heapfit_{name}{{{labels}}} {getattr(sample.holder, field.get(name, name))}"


def _describe(frame: Frame) -> str:
    return f"{frame.name}, {frame.file}:{frame.line}"


def _labels(pairs: Iterable[tuple[str, str]]) -> str:
    escapes = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})
    return ",".join(f'{name}="{value.translate(escapes)}"' for name, value in pairs)
