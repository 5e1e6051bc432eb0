# SPDX-License-Identifier: Apache-2.0
"""Neural networks as traces of their tensor arenas."""

import random
import runpy
import struct
import subprocess
from pathlib import Path
from types import SimpleNamespace as Fake

import numpy as np
import pytest
from small_traces import heapfit, heapfit_json

from heapfit.errors import HeapfitError
from heapfit.importers import ImportOptions, networks, open_any
from heapfit.importers.flatbuffer import Builder, Table
from heapfit.importers.networks import (
    Tensor,
    add_offline_plan,
    is_onnx,
    is_tflite,
    read_onnx,
    read_planner_dump,
    read_tflite,
)
from heapfit.trace.stored import prefix_errors

ROOT = Path(__file__).parents[2]
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


def test_two_memory_plans_in_one_log_are_refused_with_the_line_of_the_second() -> None:
    with pytest.raises(HeapfitError, match="line 5: buffer 0 is printed twice"):
        read_planner_dump(f"booted\n{DUMP}{DUMP}".encode())


def test_a_model_without_its_packages_or_damaged_is_refused(tmp_path: Path) -> None:
    (tmp_path / "m.tflite").write_bytes(b"\x1c\0\0\0TFL3" + bytes(40))
    done = heapfit("bounds", "m.tflite", folder=tmp_path)
    assert done.returncode == 1
    assert "m.tflite: the model " in done.stderr
    assert "Traceback" not in done.stderr


def test_a_memory_plan_is_read_in_the_form_of_older_versions() -> None:
    line = "Planner buffer ID: %d, calculated offset: %d, size required: %d, "
    line += "first_time_created: %d, last_time_used: %d\n"
    older = line % (0, 0, 100, 0, 1) + line % (1, 112, 64, 1, 2) + line % (2, 0, 200, 2, 2)
    assert read_planner_dump(older.encode()) == read_planner_dump(DUMP.encode())


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
        Tensor(0, "x", 0, 0, 20),
        Tensor(1, "a", 0, 2, 32),
        Tensor(2, "b", 1, 2, 12),
        Tensor(3, "mask", 1, 1, 0),
        Tensor(4, "y", 2, 2, 4),
    ]


@pytest.fixture(scope="module")
def network() -> bytes:
    model: bytes = runpy.run_path(str(ROOT / "examples/arena/network.py"))["make_network"]()
    return model


def test_a_tflite_model_has_tensors_without_its_weights(network: bytes) -> None:
    tensors = read_tflite(network)
    assert [one.name for one in tensors[:3]] == ["layer 0", "layer 2", "layer 4"]
    assert tensors[0] == Tensor(0, "layer 0", 0, 0, 256)  # 64 numbers of 4 B, read by operator 0
    assert (tensors[2].first, tensors[2].last) == (1, 13)  # the first shortcut
    assert tensors[-1].last == 15


def test_a_tflite_model_has_tensors_without_its_variables() -> None:
    made = Builder()
    shape = made.numbers([3, 0, 5])
    tensors = made.tables([made.table(shape, 9), made.table(shape, 17, 0, None, None, 1)])
    operators = made.tables([made.table(0, made.numbers([0, 1, -1]), made.numbers([0]))])
    graph = made.table(tensors, made.numbers([0, 1]), made.numbers([0]), operators)
    buffers = made.tables([made.table()])
    root = made.table(3, None, made.tables([graph]), None, buffers)
    assert read_tflite(made.finish(root, b"TFL3")) == [Tensor(0, "", 0, 0, 15)]


def test_a_damaged_tflite_model_is_refused(network: bytes, tmp_path: Path) -> None:
    draw = random.Random(1)
    for number in range(40):
        damaged = bytearray(network[: draw.randrange(8, len(network))] if number % 2 else network)
        for _ in range(9):
            damaged[draw.randrange(8, 1200)] = draw.randrange(256)
        (tmp_path / "m.tflite").write_bytes(damaged)
        try:
            open_any(tmp_path / "m.tflite", ImportOptions(), tmp_path / "in")
            with prefix_errors(tmp_path / "m.tflite"):
                add_offline_plan(bytes(damaged), {})
        except HeapfitError as error:
            assert str(error).startswith(f"{tmp_path}/m.tflite: ")
            assert "unpack" not in str(error)
            assert "index" not in str(error)


def test_a_model_damaged_beside_its_tensors_gets_no_plan(network: bytes, tmp_path: Path) -> None:
    damaged, root = bytearray(network), Table.root(network)
    struct.pack_into("<H", damaged, root.place - _vtable_distance(network), 0xFFFF)
    (tmp_path / "m.tflite").write_bytes(damaged)
    done = heapfit("bounds", "m.tflite", "-o", "planned.tflite", folder=tmp_path)
    assert done.returncode == 1
    assert done.stderr.startswith("heapfit: m.tflite: the model is cut short or damaged")
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "planned.tflite").exists()


def _vtable_distance(content: bytes) -> int:
    return int(struct.unpack_from("<i", content, Table.root(content).place)[0])


def test_a_tensor_of_4_gib_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "boot.log").write_text(DUMP.replace("size=100", f"size={1 << 32}"))
    done = heapfit("bounds", "boot.log", folder=tmp_path)
    assert done.returncode == 1
    assert "boot.log: tensor '0' takes 4 GiB or more, " in done.stderr


def test_a_model_gets_the_packing_as_its_offline_plan(network: bytes, tmp_path: Path) -> None:
    (tmp_path / "n.tflite").write_bytes(network)
    content = heapfit_json("bounds", "n.tflite", "-o", "planned.tflite", folder=tmp_path)
    assert content["u_max"] == content["packing"]["height"] == 848
    assert content["greedy"] == 1264
    for source in ("planned.tflite", "again.tflite"):  # a second plan takes the place of the first
        planned = (tmp_path / source.replace("again", "planned")).read_bytes()
        assert read_tflite(planned) == read_tflite(network)
        model = Table.root(planned)
        (entry,) = model.tables(6)
        buffer = model.tables(4)[entry.number(1)]
        assert entry.text(0) == "OfflineMemoryAllocation"
        place = buffer.target(0) + 4
        assert place % 16 == 0
        version, graph, count, *offsets = struct.unpack_from("<33i", planned, place)
        assert (version, graph, count, buffer.count(0)) == (1, 0, 30, 4 * 33)
        placed = {number for number, offset in enumerate(offsets) if offset >= 0}
        assert placed == {one.number for one in read_tflite(network)}
        assert all(offset % 16 == 0 for offset in offsets if offset >= 0)
        done = heapfit("bounds", "planned.tflite", "-o", "again.tflite", folder=tmp_path)
        assert done.returncode == 0, done.stderr


def test_a_packing_is_written_as_c_and_only_models_get_plans(
    network: bytes, tmp_path: Path
) -> None:
    (tmp_path / "n.tflite").write_bytes(network)
    assert heapfit("bounds", "n.tflite", "-o", "net.h", folder=tmp_path).returncode == 0
    (tmp_path / "use.c").write_text(
        '#include "net.h"\nchar fits[NET_SIZE == 848 ? 1 : -1];\n'
        "int main(void) { return net_places[0] + 256u > NET_SIZE || sizeof(fits) > 1; }\n"
    )
    subprocess.run(["cc", "-Wall", "-Werror", "use.c", "-o", "use"], cwd=tmp_path, check=True)
    subprocess.run(["./use"], cwd=tmp_path, check=True)
    (tmp_path / "boot.log").write_text(DUMP)
    done = heapfit("bounds", "boot.log", "-o", "n2.tflite", folder=tmp_path)
    assert done.returncode == 1
    assert "boot.log: only a TFLite model" in done.stderr
    assert not (tmp_path / "n2.tflite").exists()


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
