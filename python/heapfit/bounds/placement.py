# SPDX-License-Identifier: Apache-2.0
"""An offline placement as a file: minimalloc's CSV, JSON, C, or a TFLite model that has it."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import csv

from heapfit import _engine
from heapfit.errors import HeapfitError
from heapfit.importers.networks import add_offline_plan, find_tensors, is_tflite
from heapfit.outputs.file import write_file
from heapfit.trace.stored import prefix_errors


@dataclass(frozen=True, slots=True)
class Placement:
    """The lifetimes of a trace, each with an offset."""

    source: Path  # that the trace comes from
    lifetimes: _engine.Lifetimes
    offsets: NDArray[np.uint64]  # bytes
    height: int  # bytes in use

    def save(self, path: Path) -> None:
        """Writes the form that the file's ending names, CSV by default."""
        forms: dict[str, Callable[[], bytes]] = {
            ".tflite": self._model,
            ".h": partial(self._header, path.stem),
            ".json": self._json,
        }
        write_file(path, forms.get(path.suffix, self._csv)())

    def _table(self) -> pa.Table:
        """Times are events; a tensor's id is its number in the model."""
        tensors = find_tensors(self.source)
        ids = [one.number for one in tensors] or np.arange(len(self.lifetimes))
        return pa.table(
            {
                "id": ids,
                "lower": self.lifetimes.starts,
                "upper": self.lifetimes.ends,
                "size": self.lifetimes.sizes,
                "offset": self.offsets,
            }
        )

    def _csv(self) -> bytes:
        table, file = self._table(), io.BytesIO()
        file.write((",".join(table.column_names) + "\n").encode())
        csv.write_csv(table, file, csv.WriteOptions(include_header=False, quoting_style="none"))
        return file.getvalue()

    def _model(self) -> bytes:
        content = self.source.read_bytes()
        if not is_tflite(content):
            raise HeapfitError(
                f"{self.source}: only a TFLite model becomes a model with its plan "
                "(write .csv, .json or .h)"
            )
        numbers = [one.number for one in find_tensors(self.source)]
        with prefix_errors(self.source):
            return add_offline_plan(content, dict(zip(numbers, self.offsets.tolist(), strict=True)))

    def _json(self) -> bytes:
        return (json.dumps(self._table().to_pylist(), indent=0) + "\n").encode()

    def _header(self, name: str) -> bytes:
        """C: the bytes in use, and the offset of each id."""
        prefix = re.sub(r"\W|^(?=\d)", "_", name)
        lines = [
            f"/* {self.source.name}: where each buffer lies. Made by heapfit. */",
            f"#ifndef {prefix.upper()}_H\n#define {prefix.upper()}_H\n",
            f"#define {prefix.upper()}_SIZE {self.height}u",
            f"\nstatic const unsigned {prefix}_places[] = {{",
            *(
                f"    [{row['id']}] = {row['offset']}u, /* {row['size']} B */"
                for row in self._table().to_pylist()
            ),
            "};\n\n#endif\n",
        ]
        return "\n".join(lines).encode()
