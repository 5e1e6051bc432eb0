# SPDX-License-Identifier: Apache-2.0
"""An offline placement as a file: minimalloc's CSV, JSON, C, or a TFLite model that has it."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import csv

from heapfit import _engine
from heapfit.errors import HeapfitError
from heapfit.importers.networks import add_offline_plan, find_tensors, is_tflite
from heapfit.outputs.file import stage_file
from heapfit.trace.stored import prefix_errors


@dataclass(frozen=True, slots=True)
class Placement:
    """The lifetimes of a trace, each with an offset, and of several banks with one of them."""

    source: Path  # that the trace comes from
    lifetimes: _engine.Lifetimes
    offsets: NDArray[np.uint64]  # bytes
    heights: Mapping[str, int]  # bytes in use of each bank; of "" if there is one memory
    banks: NDArray[np.int64] | None = None  # the bank of each lifetime, by its place in `heights`

    def save(self, path: Path) -> None:
        """Writes the form that the file's ending names, CSV by default."""
        if path.suffix == ".tflite":
            content = self._model()
        elif path.suffix == ".h":
            content = "\n".join(self._header(path.stem)).encode()
        elif path.suffix == ".json":
            content = (json.dumps(self._table().to_pylist(), indent=0) + "\n").encode()
        else:
            content = self._csv()
        with stage_file(path) as staging:
            staging.write_bytes(content)

    def _table(self) -> pa.Table:
        """Times are events; a tensor's id is its number in the model."""
        tensors = find_tensors(self.source)
        ids = [one.number for one in tensors] or np.arange(len(self.lifetimes))
        columns = {
            "id": ids,
            "lower": self.lifetimes.starts,
            "upper": self.lifetimes.ends,
            "size": self.lifetimes.sizes,
            "offset": self.offsets,
        }
        if self.banks is not None:
            names = [*self.heights]
            columns["bank"] = [names[bank] for bank in self.banks]
        return pa.table(columns)

    def _csv(self) -> bytes:
        table, file = self._table(), io.BytesIO()
        file.write((",".join(table.column_names) + "\n").encode())
        csv.write_csv(table, file, csv.WriteOptions(include_header=False, quoting_style="none"))
        return file.getvalue()

    def _model(self) -> bytes:
        content = self.source.read_bytes()
        if not is_tflite(content) or self.banks is not None:
            raise HeapfitError(
                f"{self.source}: only a TFLite model in one memory becomes a model with its plan "
                "(write .csv, .json or .h)"
            )
        numbers = [one.number for one in find_tensors(self.source)]
        with prefix_errors(self.source):
            places = zip(numbers, self.offsets.tolist(), strict=True)
            return add_offline_plan(content, dict(places))

    def _header(self, name: str) -> Iterator[str]:
        """C: the bytes of each bank, and the offset of each id, of several banks with its own."""
        prefix = re.sub(r"\W|^(?=\d)", "_", name)
        names = [*self.heights]
        yield f"/* {self.source.name}: where each buffer lies. Made by heapfit. */"
        yield f"#ifndef {prefix.upper()}_H\n#define {prefix.upper()}_H\n"
        for bank, height in self.heights.items():
            yield f"#define {'_'.join(filter(None, (prefix, bank, 'size'))).upper()} {height}u"
        kind = "unsigned" if self.banks is None else "struct { unsigned bank, offset; }"
        yield f"\nstatic const {kind} {prefix}_places[] = {{"
        for row in self._table().to_pylist():
            bank = f"{names.index(row['bank'])}u, " if "bank" in row else ""
            place = f"{{{bank}{row['offset']}u}}" if bank else f"{row['offset']}u"
            yield f"    [{row['id']}] = {place}, /* {row['size']} B */"
        yield "};\n\n#endif\n"
