# SPDX-License-Identifier: Apache-2.0
"""Neural networks as traces of their tensor arenas."""

from pathlib import Path
from types import SimpleNamespace as Fake

import numpy as np
import pytest
from small_traces import heapfit, heapfit_json

from heapfit.importers import networks
from heapfit.importers.networks import Tensor, is_onnx, is_tflite, read_onnx, read_tflite

DUMP = """\
tflite: A (id=0): size=100, offset=0, first_used=0 last_used=1
tflite: B (id=1): size=64, offset=112, first_used=1 last_used=2
tflite: C (id=2): size=200, offset=0, first_used=2 last_used=2
"""


def test_a_printed_memory_plan_is_a_trace_of_its_arena(tmp_path: Path) -> None:
    (tmp_path / "boot.log").write_text(f"booted\n{DUMP}")
    content = heapfit_json("bounds", "boot.log", folder=tmp_path)
    assert content["u_max"] == 64 + 208  # in whole 16 bytes
    assert content["packing"]["is_least"]
    assert content["greedy"] == content["packing"]["height"] == 272
    imported = heapfit("import", "boot.log", folder=tmp_path)
    assert "Tensors alone" in " ".join((imported.stdout + imported.stderr).split())


def test_a_model_without_its_packages_or_damaged_is_refused(tmp_path: Path) -> None:
    (tmp_path / "m.tflite").write_bytes(b"\x1c\0\0\0TFL3" + bytes(40))
    done = heapfit("bounds", "m.tflite", folder=tmp_path)
    assert done.returncode == 1
    assert "m.tflite: the model " in done.stderr
    assert "Traceback" not in done.stderr


def _value(name: str, *shape: int) -> Fake:
    dimensions = [Fake(dim_value=one) for one in shape]
    return Fake(name=name, type=Fake(tensor_type=Fake(shape=Fake(dim=dimensions), elem_type=1)))


def test_an_onnx_model_has_the_lifetimes_of_its_operators(monkeypatch) -> None:
    nodes = [
        Fake(input=[], output=["shape"]),
        Fake(input=["shape"], output=["w"]),  # a weight, computed from a constant
        Fake(input=["x", "w"], output=["a"]),
        Fake(input=["a"], output=["b", "mask"]),
        Fake(input=["a", "b"], output=["y"]),
    ]
    values = [_value("a", 4, 2), _value("b", 0, 3)]
    graph = Fake(
        node=nodes,
        value_info=values,
        input=[_value("x", 5)],
        output=[_value("y", 1)],
        initializer=[],
    )
    package = Fake(
        shape_inference=Fake(infer_shapes=lambda model: model),
        load_model_from_string=lambda *_: Fake(graph=graph),
        helper=Fake(tensor_dtype_to_np_dtype=lambda *_: np.dtype(np.float32)),
    )
    monkeypatch.setattr(networks, "_import_reader", lambda *_: package)
    assert read_onnx(b"") == [
        Tensor("x", 0, 0, 20),
        Tensor("a", 0, 2, 32),
        Tensor("b", 1, 2, 12),
        Tensor("mask", 1, 1, 0),
        Tensor("y", 2, 2, 4),
    ]


def _table(**fields: list[int]) -> Fake:
    calls: dict[str, object] = {}
    for name, values in fields.items():
        calls[f"{name}Length"] = lambda values=values: len(values)
        calls[name] = lambda i, values=values: values[i]
    return Fake(**calls)


def test_a_tflite_model_has_tensors_without_its_weights(monkeypatch) -> None:
    def tensor(kind: int, buffer: int, shape: list[int], is_variable: bool = False) -> Fake:
        made = _table(Shape=shape)
        made.Type, made.Buffer, made.IsVariable = lambda: kind, lambda: buffer, lambda: is_variable
        return made

    tensors = [tensor(9, 0, [8]), tensor(9, 1, [9]), tensor(0, 0, [2, 3]), tensor(1, 0, [5], True)]
    operators = [_table(Inputs=[0, 1, -1], Outputs=[2]), _table(Inputs=[2], Outputs=[0])]
    graph = _table(Operators=operators, Tensors=tensors, Inputs=[0], Outputs=[0])
    buffers = [Fake(DataLength=lambda: 0), Fake(DataLength=lambda: 9)]
    model = Fake(Subgraphs=lambda *_: graph, Buffers=lambda i: buffers[i])
    package = Fake(Model=Fake(GetRootAs=lambda *_: model))
    monkeypatch.setattr(networks, "_import_reader", lambda *_: package)
    assert read_tflite(b"") == [
        Tensor("0", 0, 1, 8),
        Tensor("2", 0, 1, 24),
        Tensor("3", 0, 1, 10),
    ]


@pytest.mark.parametrize(
    ("head", "onnx", "tflite"),
    [
        (b"\x08\x08\x12\x04abcd", True, False),
        (b"\x1c\0\0\0TFL3", False, True),
        (b"a 1 2\n", False, False),
    ],
)
def test_models_are_known_by_their_first_bytes(head: bytes, onnx: bool, tflite: bool) -> None:
    assert (is_onnx(head), is_tflite(head)) == (onnx, tflite)
