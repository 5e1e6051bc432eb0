# SPDX-License-Identifier: Apache-2.0
"""Neural networks as tensors with lifetimes: what a tensor arena must hold at each operator.

Read are lines of TFLite Micro's memory planner, TFLite models (packages tflite and flatbuffers) and
ONNX models (package onnx). Time is the number of the operator. Weights are left out, and so are the
scratch buffers of kernels, which a model does not name.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from heapfit import _engine
from heapfit.errors import HeapfitError
from heapfit.importers.source import ImportOptions, ReaderSource, Source
from heapfit.importers.stream import ByteStream
from heapfit.trace.chains import Chains
from heapfit.trace.stored import Columns, TraceInfo

_ALIGNMENT = 16  # of a tensor in TFLite Micro's arena
_DUMPED = re.compile(
    rb"\(id=(\d+)\): size=(\d+), offset=\d+, first_used=(\d+) last_used=(\d+)"
)  # GreedyMemoryPlanner::PrintMemoryPlan
_ONNX_HEAD = re.compile(rb"\x08[\x01-\x1f][\x12\x1a\x22\x28\x32\x3a\x42]", re.DOTALL)
# By TensorType, from FLOAT32 to UINT16; 0: no fixed size.
_TFLITE_BYTES = (4, 2, 4, 1, 8, 0, 1, 2, 8, 1, 8, 16, 8, 0, 0, 4, 2)


@dataclass(frozen=True, slots=True)
class Tensor:
    """Bytes that are live from the first operator that uses them to the last, both included."""

    name: str
    first: int
    last: int
    size: int  # bytes


Tensors: TypeAlias = list[Tensor]


def is_planner_dump(head: bytes) -> bool:
    """True for text with lines of TFLite Micro's memory planner."""
    return bool(_DUMPED.search(head))


def is_tflite(head: bytes) -> bool:
    """True for a TFLite model."""
    return head[4:8] == b"TFL3"


def is_onnx(head: bytes) -> bool:
    """True for an ONNX model, which begins with its version and another field."""
    return bool(_ONNX_HEAD.match(head))


def read_planner_dump(content: bytes) -> Tensors:
    """Reads the buffers that TFLite Micro's memory planner printed."""
    numbers = (tuple(map(int, match.groups())) for match in _DUMPED.finditer(content))
    return [Tensor(str(name), first, last, size) for name, size, first, last in numbers]


def read_onnx(content: bytes) -> Tensors:
    """Reads the tensors of an ONNX model; an unknown dimension counts as 1."""
    onnx = _import_reader("onnx")
    graph = onnx.shape_inference.infer_shapes(onnx.load_model_from_string(content)).graph
    values = {one.name: one for one in (*graph.value_info, *graph.input, *graph.output)}
    weights = {one.name for one in graph.initializer}
    uses = []
    for node in graph.node:
        if weights.issuperset(node.input):  # computed from weights alone: constant, too
            weights.update(node.output)
        else:
            uses.append((node.input, node.output))
    spans = _spans(uses, [one.name for one in graph.input], [one.name for one in graph.output])

    read = {name for inputs, _ in uses for name in inputs}

    def size(name: str) -> int:
        if name not in values:
            if name not in read:
                return 0  # such as the mask of a dropout
            raise HeapfitError(f"tensor {name} has no known shape")
        tensor = values[name].type.tensor_type
        count = 1
        for dimension in tensor.shape.dim:
            count *= max(dimension.dim_value, 1)
        return count * int(onnx.helper.tensor_dtype_to_np_dtype(tensor.elem_type).itemsize)

    names = [name for name in spans if name and name not in weights]
    return [Tensor(name, *spans[name], size(name)) for name in names]


def read_tflite(content: bytes) -> Tensors:
    """Reads the tensors of the first subgraph of a TFLite model."""
    model = _import_reader("tflite").Model.GetRootAs(content, 0)
    graph = model.Subgraphs(0)
    operators = [graph.Operators(i) for i in range(graph.OperatorsLength())]
    uses = [(_numbers(one, "Inputs"), _numbers(one, "Outputs")) for one in operators]
    kept = [i for i in range(graph.TensorsLength()) if graph.Tensors(i).IsVariable()]
    first, last = _numbers(graph, "Inputs"), _numbers(graph, "Outputs")
    spans = _spans(uses, [*first, *kept], [*last, *kept])
    tensors = []
    for number, span in sorted(spans.items()):
        if number < 0 or model.Buffers(graph.Tensors(number).Buffer()).DataLength():
            continue
        tensor = graph.Tensors(number)
        size = _TFLITE_BYTES[tensor.Type()]  # a type beyond them is an IndexError: refused
        for dimension in _numbers(tensor, "Shape"):
            size *= max(dimension, 1)
        tensors.append(Tensor(str(number), *span, size))
    return tensors


def read_by(read: Callable[[bytes], Tensors]) -> Callable[[ByteStream, ImportOptions], Source]:
    """Opens a network as the trace of an arena."""
    return lambda stream, options: _ArenaSource(stream, options, read)


class _ArenaSource:
    """A network's tensors as a trace."""

    def __init__(
        self, stream: ByteStream, options: ImportOptions, read: Callable[[bytes], Tensors]
    ) -> None:
        self._stream = stream
        self._read = read
        reader = _engine.LifetimeTrace(options.drop_unknown)
        self._source = ReaderSource(reader, self, options)

    def chunks(self) -> Iterator[bytes]:
        """Yields the tensors as minimalloc's CSV."""
        try:
            tensors = self._read(b"".join(self._stream.chunks()))
        except HeapfitError:
            raise
        except Exception as error:  # what a parser raises of a damaged model
            raise HeapfitError(f"the model cannot be read: {error}") from error
        yield b"id,lower,upper,size\n"
        for number, one in enumerate(tensors):
            size = -(-one.size // _ALIGNMENT) * _ALIGNMENT
            if size:
                yield f"{number},{one.first},{one.last + 1},{size}\n".encode()

    def columns(self) -> Iterator[Columns]:
        """The events in the order of operators."""
        return self._source.columns()

    def info(self) -> TraceInfo:
        """The metadata of the trace, with a note of what an arena holds beside."""
        info = self._source.info()
        note = (
            f"Tensors alone, in whole {_ALIGNMENT} B; the scratch buffers of kernels and what a "
            "runtime allocates beside come on top."
        )
        return replace(info, notes=(*info.notes, note))

    def chains(self) -> Chains:
        """The callers of sites: a network has none."""
        return self._source.chains()


def _import_reader(package: str) -> Any:  # noqa: ANN401 (a package without types)
    try:
        # Few read models: their packages are an extra.
        return importlib.import_module(package)
    except ImportError:
        raise HeapfitError(
            "the model needs packages that are not installed: pip install 'heapfit[networks]'"
        ) from None


def _numbers(table: Any, field: str) -> list[int]:  # noqa: ANN401 (a class made by flatbuffers)
    length = getattr(table, f"{field}Length")()
    return [getattr(table, field)(i) for i in range(length)]


def _spans(
    uses: Iterable[tuple[Iterable[Any], Iterable[Any]]], first: list[Any], last: list[Any]
) -> dict[Any, tuple[int, int]]:
    """The first and last operator at which each tensor is live."""
    spans = dict.fromkeys(first, (0, 0))
    end = 0
    for end, (inputs, outputs) in enumerate(uses):
        for name in (*inputs, *outputs):
            spans[name] = (spans.get(name, (end, end))[0], end)
    for name in last:
        spans[name] = (spans.get(name, (end, end))[0], end)
    return spans
