# SPDX-License-Identifier: Apache-2.0
"""Neural networks as tensors with lifetimes: what a tensor arena must hold at each operator.

Read are lines of TFLite Micro's memory planner, TFLite models and ONNX models (package onnx). Time
is the number of the operator. Weights are left out, and so are the scratch buffers of kernels,
which a model does not name, and TFLite's variables, which TFLite Micro keeps beside its plan.
"""

from __future__ import annotations

import importlib
import re
import struct
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from heapfit import _engine
from heapfit.errors import HeapfitError
from heapfit.importers.flatbuffer import Builder, FlatTable
from heapfit.importers.source import ImportOptions, ReaderSource, Source
from heapfit.importers.stream import ByteStream
from heapfit.plan.quantities import LARGEST_REGION

_ALIGNMENT = 16  # of a tensor in TFLite Micro's arena
# GreedyMemoryPlanner::PrintMemoryPlan, and what it printed before April 2021.
_DUMPED = re.compile(
    rb"\(id=(\d+)\): size=(\d+), offset=-?\d+, first_used=(\d+) last_used=(\d+)"
    rb"|Planner buffer ID: (\d+), calculated offset: -?\d+, size required: (\d+), "
    rb"first_time_created: (\d+), last_time_used: (\d+)"
)
# An ONNX model begins with its version and another field.
_ONNX_HEAD = re.compile(rb"\x08[\x01-\x1f][\x12\x1a\x22\x28\x32\x3a\x42]", re.DOTALL)
# Bits of an element by TensorType, from FLOAT32 to FLOAT8_E5M2; 0: no fixed size.
_TFLITE_BITS = (
    *(32, 16, 32, 8, 64, 0, 8, 16, 64, 8, 64, 128),
    *(64, 0, 0, 32, 16, 4, 16, 2, 4, 8, 8),
)
_NOTE = (
    f"Tensors alone, in whole {_ALIGNMENT} B; scratch buffers of kernels, variables and what a "
    "runtime allocates beside come on top."
)
_OFFLINE_PLAN = "OfflineMemoryAllocation"  # TFLite Micro's micro_allocation_info.cc
# Fields of the tables in TFLite's schema, version 3.
_MODEL_VERSION, _MODEL_SUBGRAPHS, _MODEL_BUFFERS, _MODEL_METADATA, _MODEL_FIELDS = 0, 2, 4, 6, 10
_GRAPH_TENSORS, _GRAPH_INPUTS, _GRAPH_OUTPUTS, _GRAPH_OPERATORS = range(4)
_TENSOR_SHAPE, _TENSOR_TYPE, _TENSOR_BUFFER, _TENSOR_NAME, _TENSOR_VARIABLE = 0, 1, 2, 3, 5
_OPERATOR_INPUTS, _OPERATOR_OUTPUTS = 1, 2
_BUFFER_DATA, _BUFFER_OFFSET = 0, 1


@dataclass(frozen=True, slots=True)
class Tensor:
    """Bytes that are live from the first operator that uses them to the last, both included."""

    number: int | str  # in its model; the id of a table's buffer
    name: str
    first: int
    last: int
    size: int  # bytes


Tensors: TypeAlias = list[Tensor]
Readers: TypeAlias = Sequence[tuple[Callable[[bytes], object], Callable[[bytes], Tensors]]]


def find_tensors(source: Path, readers: Readers = ()) -> Tensors:
    """The tensors of a network in the order of its trace's lifetimes; none if it is no network.

    `readers`: of other files, by their heads. Of a pipe there are none: it is read as a trace.
    """
    if not source.is_file():
        return []
    with ByteStream(source) as stream:
        for matches, read in readers or NETWORKS:
            if matches(stream.head):
                return sorted(
                    [one for one in read(b"".join(stream.chunks())) if one.size],
                    key=lambda one: one.first,
                )
    return []


def is_tflite(head: bytes) -> bool:
    """True for a TFLite model."""
    return head[4:8] == b"TFL3"


def read_planner_dump(content: bytes) -> Tensors:
    """Reads the buffers that TFLite Micro's memory planner printed."""
    tensors: dict[int, Tensor] = {}
    for match in _DUMPED.finditer(content):
        number, size, first, last = map(int, filter(None, match.groups()))
        if number in tensors:
            line = content.count(b"\n", 0, match.start()) + 1
            raise HeapfitError(
                f"line {line}: buffer {number} is printed twice: keep the lines of one plan"
            )
        tensors[number] = Tensor(number, str(number), first, last, size)
    return list(tensors.values())


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
            raise HeapfitError(f"tensor {name!r:.60} has no known shape")
        tensor = values[name].type.tensor_type
        count: int = prod(max(one.dim_value, 1) for one in tensor.shape.dim)
        return count * int(onnx.helper.tensor_dtype_to_np_dtype(tensor.elem_type).itemsize)

    names = [name for name in spans if name and name not in weights]
    return [Tensor(i, name, *spans[name], size(name)) for i, name in enumerate(names)]


def read_tflite(content: bytes) -> Tensors:
    """Reads the tensors of the first subgraph of a TFLite model."""
    model = FlatTable.root(content)
    graph = model.tables(_MODEL_SUBGRAPHS)[0]
    tensors, buffers = graph.tables(_GRAPH_TENSORS), model.tables(_MODEL_BUFFERS)
    uses = [
        (one.numbers(_OPERATOR_INPUTS), one.numbers(_OPERATOR_OUTPUTS))
        for one in graph.tables(_GRAPH_OPERATORS)
    ]
    spans = _spans(uses, graph.numbers(_GRAPH_INPUTS), graph.numbers(_GRAPH_OUTPUTS))
    return [
        Tensor(number, tensors[number].text(_TENSOR_NAME), *span, _tflite_size(tensors[number]))
        for number, span in sorted(spans.items())
        if number >= 0 and _is_planned(tensors[number], buffers)
    ]


def _is_planned(tensor: FlatTable, buffers: Sequence[FlatTable]) -> bool:
    """True for a tensor in the planned part of the arena: no weight and no variable."""
    buffer = buffers[tensor.number(_TENSOR_BUFFER)]
    has_data = buffer.count(_BUFFER_DATA) or buffer.number(_BUFFER_OFFSET, "<Q")
    return not has_data and not tensor.number(_TENSOR_VARIABLE, "<B")


def _tflite_size(tensor: FlatTable) -> int:
    kind = tensor.number(_TENSOR_TYPE, "<B")
    if kind >= len(_TFLITE_BITS):
        raise HeapfitError(f"tensor {tensor.text(_TENSOR_NAME)!r:.60} has an unknown type, {kind}")
    return -(-_TFLITE_BITS[kind] * prod(max(one, 1) for one in tensor.numbers(_TENSOR_SHAPE)) // 8)


def add_offline_plan(content: bytes, offsets: dict[int, int]) -> bytes:
    """A TFLite model with the offsets of its tensors as TFLite Micro's offline plan.

    TFLite Micro places tensors of other numbers itself. The content stays as it is: what is new
    stands before it.
    """
    with _refuse_damaged():
        return _add_offline_plan(FlatTable.root(content), offsets)


def _add_offline_plan(model: FlatTable, offsets: dict[int, int]) -> bytes:
    content = model.content
    graphs = model.tables(_MODEL_SUBGRAPHS)
    if len(graphs) > 1:
        raise HeapfitError(
            f"the model has {len(graphs)} subgraphs: TFLite Micro takes offline plans of one"
        )
    count = graphs[0].count(_GRAPH_TENSORS)
    words = (1, 0, count, *(offsets.get(number, -1) for number in range(count)))
    made = Builder(content)
    buffers = [made.refer(one.place) for one in model.tables(_MODEL_BUFFERS)]
    kept = [one for one in model.tables(_MODEL_METADATA) if one.text(0) != _OFFLINE_PLAN]
    entry = made.table(made.text(_OFFLINE_PLAN), len(buffers))
    plan = made.table(made.data(struct.pack(f"<{len(words)}i", *words), 16))
    targets = [model.target(slot) if slot else 0 for slot in range(_MODEL_FIELDS)]
    fields = [made.refer(one) if one else None for one in targets]
    metadata = made.tables([*(made.refer(one.place) for one in kept), entry])
    fields[_MODEL_BUFFERS], fields[_MODEL_METADATA] = made.tables([*buffers, plan]), metadata
    return made.finish(made.table(model.number(_MODEL_VERSION), *fields[1:]), content[4:8])


def read_network_by(
    read: Callable[[bytes], Tensors],
) -> Callable[[ByteStream, ImportOptions], Source]:
    """Opens a network as the trace of an arena, in the order of operators."""
    return lambda stream, options: ReaderSource(
        _engine.LifetimeTrace(options.drop_unknown), _Arena(stream, read), _NOTE
    )


class _Arena(NamedTuple):
    """A network's tensors as minimalloc's CSV."""

    file: ByteStream
    read: Callable[[bytes], Tensors]

    def chunks(self) -> Iterator[bytes]:
        """Yields the tensors, a line each."""
        with _refuse_damaged():
            tensors = self.read(b"".join(self.file.chunks()))
        yield b"id,lower,upper,size\n"
        for number, one in enumerate(tensors):
            size = -(-one.size // _ALIGNMENT) * _ALIGNMENT
            if size > LARGEST_REGION:
                raise HeapfitError(
                    f"tensor {one.name!r:.60} takes 4 GiB or more, which no arena holds"
                )
            if size:
                yield f"{number},{one.first},{one.last + 1},{size}\n".encode()


@contextmanager
def _refuse_damaged() -> Iterator[None]:
    """Turns what a parser raises of a damaged model into one line."""
    try:
        yield
    except HeapfitError:
        raise
    except (struct.error, IndexError) as error:
        raise HeapfitError(
            "the model is cut short or damaged: it refers to what is not in it (export it again)"
        ) from error
    except Exception as error:
        told = "".join(one if one.isprintable() else " " for one in str(error))
        raise HeapfitError(f"the model cannot be read: {told:.200}") from error


def _import_reader(package: str) -> Any:  # noqa: ANN401 (a package without types)
    try:
        # Few read models: their packages are an extra.
        return importlib.import_module(package)
    except ImportError as error:
        raise HeapfitError(
            f"the model needs a package that is not installed: pip install {package}"
        ) from error


def _spans(
    uses: Iterable[tuple[Iterable[Any], Iterable[Any]]], first: Iterable[Any], last: Iterable[Any]
) -> dict[Any, tuple[int, int]]:
    """The first and last operator at which each tensor is live."""
    steps = [(*inputs, *outputs) for inputs, outputs in uses]
    spans = dict.fromkeys(first, (0, 0))
    for at, names in (*enumerate(steps), (max(len(steps) - 1, 0), last)):
        for name in names:
            spans[name] = (spans.get(name, (at, at))[0], at)
    return spans


# How each kind of file begins, and what reads it.
NETWORKS: Readers = (
    (_DUMPED.search, read_planner_dump),
    (is_tflite, read_tflite),
    (_ONNX_HEAD.match, read_onnx),
)
