# SPDX-License-Identifier: Apache-2.0
"""An offline placement as a file: minimalloc's CSV, JSON, C, or a TFLite model that has it."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from heapfit import _engine
from heapfit.errors import HeapfitError
from heapfit.importers.formats import is_lifetimes
from heapfit.importers.networks import Tensor, Tensors, add_offline_plan, find_tensors, is_tflite
from heapfit.outputs.file import write_file
from heapfit.outputs.printable import printable
from heapfit.trace.stored import prefix_errors

_COLUMNS = ("id", "lower", "upper", "size", "offset")
# Columns of a table of buffers that have several names.
_USUAL = {"begin": "lower", "start": "lower", "end": "upper", "buffer": "id", "buffer_id": "id"}


@dataclass(frozen=True, slots=True)
class Placement:
    """The lifetimes of a trace, each with an offset."""

    source: Path  # that the trace comes from
    lifetimes: _engine.Lifetimes
    offsets: NDArray[np.uint64]  # bytes

    def save(self, path: Path) -> None:
        """Writes the form that the file's ending names, CSV by default."""
        forms: dict[str, Callable[[], bytes]] = {
            ".tflite": self._model,
            ".h": partial(self._header, path.stem),
            ".json": self._json,
        }
        write_file(path, forms.get(path.suffix, self._csv)())

    def _rows(self) -> list[tuple[int | str, int, int, int, int]]:
        """Times are events; of a network operators, of a table of buffers its own, with its ids."""
        starts, ends = self.lifetimes.starts.tolist(), self.lifetimes.ends.tolist()
        spans: list[tuple[int | str, int, int]] = [
            *zip(range(len(starts)), starts, ends, strict=True)
        ]
        known = find_tensors(self.source) or find_tensors(self.source, _BUFFERS)
        if len(known) == len(starts):  # none has gaps, which may shorten it
            spans = [(one.number, one.first, one.last + 1) for one in known]
        sizes = zip(self.lifetimes.sizes.tolist(), self.offsets.tolist(), strict=True)
        return [(*span, *size) for span, size in zip(spans, sizes, strict=True)]

    def _csv(self) -> bytes:
        file = io.StringIO()
        csv.writer(file, lineterminator="\n").writerows([_COLUMNS, *self._rows()])
        return file.getvalue().encode()

    def _model(self) -> bytes:
        content = self.source.read_bytes()
        if not is_tflite(content):
            raise HeapfitError(
                f"{self.source}: only a TFLite model becomes a model with its plan "
                "(write .csv, .json or .h)"
            )
        numbers = [int(one.number) for one in find_tensors(self.source)]
        with prefix_errors(self.source):
            return add_offline_plan(content, dict(zip(numbers, self.offsets.tolist(), strict=True)))

    def _json(self) -> bytes:
        rows = [dict(zip(_COLUMNS, row, strict=True)) for row in self._rows()]
        return (json.dumps(rows, indent=0) + "\n").encode()

    def _header(self, name: str) -> bytes:
        """C: the bytes in use, and the offset of each id."""
        prefix = re.sub(r"\W|^(?=\d)", "_", name)
        lines = [
            f"/* {printable(self.source.name)}: where each buffer lies. Made by heapfit. */",
            f"#ifndef {prefix.upper()}_H\n#define {prefix.upper()}_H\n",
            f"#define {prefix.upper()}_SIZE "
            f"{_engine.check_placement(self.lifetimes, self.offsets)}u",
            f"\nstatic const unsigned {prefix}_places[] = {{",
            *(
                f"    [{i if isinstance(name, str) else name}] = {offset}u, "
                f"/* {_describe(name)}{size} B */"
                for i, (name, _, _, size, offset) in enumerate(self._rows())
            ),
            "};\n\n#endif\n",
        ]
        return "\n".join(lines).encode()


def _describe(name: int | str) -> str:
    """A buffer's name in a comment of C; a number says nothing there."""
    return f"{printable(name).replace('*/', '* /')}, " if isinstance(name, str) else ""


def _read_buffers(content: bytes) -> Tensors:
    """The buffers of a table like minimalloc's."""
    text = content.decode(errors="replace").lstrip("\ufeff")
    head, *told = [one for one in text.splitlines() if one.strip() and not one.startswith("#")]
    separator = max(",;\t", key=head.count)
    columns = [one.strip(' "') for one in head.lower().split(separator)]
    rows = csv.DictReader(told, [_USUAL.get(one, one) for one in columns], delimiter=separator)
    end = 0 if "end" in columns else 1  # the first time at which one is not live
    return [
        Tensor(one.get("id") or i, "", int(one["lower"]), int(one["upper"]) - end, int(one["size"]))
        for i, one in enumerate(rows)
        if not one.get("gaps")
    ]


_BUFFERS = ((is_lifetimes, _read_buffers),)
