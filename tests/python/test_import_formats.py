# SPDX-License-Identifier: Apache-2.0
"""The table of formats, readers of one's own, lines by --line, and networks as traces."""

from __future__ import annotations

import random
import re
import runpy
import shlex
import struct
import subprocess
import time
import tomllib
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace as Fake

import numpy as np
import pytest
from own_process import run_alone
from small_traces import heapfit, heapfit_json

import formats_page
from heapfit.errors import HeapfitError
from heapfit.front_door import profile_trace
from heapfit.importers import (
    FORMATS,
    ImportOptions,
    OwnLines,
    formats,
    import_file,
    networks,
    open_any,
)
from heapfit.importers.flatbuffer import Builder, FlatTable
from heapfit.importers.networks import (
    Tensor,
    add_offline_plan,
    read_onnx,
    read_planner_dump,
    read_tflite,
)
from heapfit.importers.own_lines import suggest_own_lines
from heapfit.importers.told_names import read_told_names
from heapfit.trace.stored import COLUMNS, Trace, prefix_errors
from program import call_heapfit

TABLES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
PAGE = (Path(__file__).parents[2] / "docs" / "import-formats.md").read_text(encoding="utf-8")


def imported(language, folder):
    """The rows of the page's example in a language."""
    example = re.search(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)[1]
    (folder / "example").write_text(example)
    trace = import_file(folder / "example", folder / "t.parquet", ImportOptions())
    (batch,) = trace.batches(list(COLUMNS))
    return trace.info, {name: batch[name].tolist() for name in batch}


def test_every_format_is_on_the_page():
    assert "\n| `wire` | " in PAGE
    assert formats_page.page() == PAGE, "`make docs` renews docs/import-formats.md"


def test_the_text_example_imports(tmp_path):
    info, rows = imported("text", tmp_path)
    assert (info.program, info.pointer_bits) == ("echo server", 32)
    assert rows["op"] == [0, 2, 1, 3, 4, 4]
    assert rows["time"] == [0, 15, 18, 20, 27, 27]


def test_the_csv_example_imports(tmp_path):
    _, rows = imported("csv", tmp_path)
    assert rows["op"] == [0, 2, 3, 4]
    assert rows["object"] == [0, 1, 0, 1]
    assert rows["alignment"] == [0, 64, 0, 0]
    assert rows["site"] == [0xD99D93A2, 17, 17, 0]


class SizesReader:
    """A reader in Python: a block that stays for each line, of so many bytes; "-" is dropped."""

    program, source, pointer_bits, chains = "sizes", "", 32, {}

    def __init__(self, drop_unknown):
        assert drop_unknown
        self._sizes, self._rest, self._born, self._dropped = [], b"", 0, 0

    def feed(self, chunk):
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        self._dropped += lines.count(b"-")
        self._sizes += [int(line) for line in lines if line not in (b"-", b"sizes")]

    def finish(self):
        self.feed(b"\n")

    @property
    def pending(self):
        return len(self._sizes)

    @property
    def notes(self):
        return [f"{self._dropped} lines dropped."]

    def take(self):
        sizes, self._sizes = np.array(self._sizes, np.uint64), []
        self._born += len(sizes)
        objects = np.arange(self._born - len(sizes), self._born, dtype=np.uint32)
        return {"op": np.zeros(len(sizes), np.uint8), "object": objects, "size": sizes}


def test_a_reader_in_python_is_a_class_and_a_line_of_the_table(tmp_path, monkeypatch):
    own = formats.Format(
        "sizes",
        "a size a line",
        lambda head: head.startswith(b"sizes"),
        formats.read_by(SizesReader, is_late=True),
    )
    monkeypatch.setattr(formats, "FORMATS", (own, *FORMATS))
    (tmp_path / "sizes").write_text("sizes\n24\n-\n100")
    trace = import_file(tmp_path / "sizes", tmp_path / "t.parquet", ImportOptions())
    assert (trace.info.program, trace.info.notes) == ("sizes", ("1 lines dropped.",))
    (batch,) = trace.batches(("object", "size"))
    assert (batch["object"].tolist(), batch["size"].tolist()) == ([0, 1], [24, 100])


# ---- networks

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
    damaged, root = bytearray(network), FlatTable.root(network)
    struct.pack_into("<H", damaged, root.place - _vtable_distance(network), 0xFFFF)
    (tmp_path / "m.tflite").write_bytes(damaged)
    done = heapfit("bounds", "m.tflite", "-o", "planned.tflite", folder=tmp_path)
    assert done.returncode == 1
    assert done.stderr.startswith("heapfit: m.tflite: the model is cut short or damaged")
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "planned.tflite").exists()


def _vtable_distance(content: bytes) -> int:
    return int(struct.unpack_from("<i", content, FlatTable.root(content).place)[0])


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
        model = FlatTable.root(planned)
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


# ---- lines of one's own

# An allocation of 124 bytes, or 1,024, and its free, as people print them.
HOME_MADE = TABLES["home_made"]


def put(folder: Path, *lines: str) -> Path:
    path = folder / "own.log"
    path.write_text("\n".join(lines) + "\n")
    return path


def read(path: Path, own: OwnLines) -> list[tuple[int, ...]]:
    trace = import_file(path, path.with_suffix(".parquet"), ImportOptions(own_lines=own))
    names = ("op", "object", "size", "time", "thread", "site")
    return [
        row
        for batch in trace.batches(names)
        for row in zip(*(batch[name].tolist() for name in names), strict=True)
    ]


@pytest.mark.parametrize(("served", "freed"), HOME_MADE.values(), ids=HOME_MADE.keys())
def test_a_form_of_ones_own_is_found_and_then_read(tmp_path, served, freed):
    path = put(tmp_path, "boot v1.2 0x08000000", served, "tick 17", freed)
    _, *shown, _, command = suggest_own_lines(path, path.read_bytes())
    assert shown == [
        f"  {one[:76]}" for one in (served.replace("\t", " "), freed.replace("\t", " "))
    ]
    line, _, freeing = shlex.split(command)[-3:]
    alloc, free = 0, 4
    rows = read(path, OwnLines(line, freeing))
    size = 1024 if "1,024" in served else 124
    assert [row[:3] for row in rows] == [(alloc, 0, size), (free, 0, 0)]


@pytest.mark.parametrize(
    ("line", "own", "size"),
    [
        ("got 12,345,678 bytes @0x20001000", "got {size} bytes @{address}", 12_345_678),
        ("got 0x20001000: 1,024", "got {address}: {size}", 1024),
        ("got 16,200,0x20001000", "got {size},200,{address}", 16),
        ("got 0x20001000,16,200 free", "got {address},{size}", 16),
        ("got 16,2000 @0x20001000", "got {size},2000 @{address}", 16),
        ("got(16,200) @0x20001000", "got({any},{size}) @{address}", 200),
    ],
)
def test_groups_of_three_digits_are_one_number_where_no_other_may_follow(tmp_path, line, own, size):
    assert [row[2] for row in read(put(tmp_path, line), OwnLines(own))] == [size]


@pytest.mark.parametrize("nulls", [(), (0,), (3,), (0, 3)])
def test_a_resize_of_null_is_described_as_others_are(tmp_path, nulls):
    """As a program's first one often is."""
    lines = []
    for i in range(4):
        at = 0x20001000 + 256 * i
        old = 0 if i in nulls else at
        lines += [f"got {at:#x} size 24", f"realloc {old:#x} -> {at + 64:#x} size {100 + i}"]
        lines += [f"free {at + 64:#x}"]
    path = put(tmp_path, *lines)
    *_, told, command = suggest_own_lines(path, path.read_bytes())
    assert "reads 12 of 12 lines" in told
    assert "--line 'realloc {old} -> {address} size {size}'" in command


def test_a_failing_import_shows_lines_like_calls_and_a_command_that_reads_them(tmp_path):
    path = put(tmp_path, "hello", *HOME_MADE["ESP-IDF's log"])
    failed = run_alone("import", path, "-o", tmp_path / "o.parquet")
    assert failed.code == 1
    _, shown, *lines, would, command = failed.told.splitlines()
    assert shown == "These lines look like calls:"
    assert would == "This reads 2 of 2 lines that may be calls, with a peak of 124 B:"
    assert [line.strip() for line in lines] == HOME_MADE["ESP-IDF's log"]
    words = shlex.split(command)
    ran = run_alone(*words[1:], "-o", tmp_path / "o.parquet")
    assert (ran.code, (tmp_path / "o.parquet").exists()) == (0, True)


@pytest.mark.parametrize(
    ("name", "texts", "told"),
    [
        (
            "a source line behind the time, and signs",
            ["{time:s} {site} +{size} @{address}", "{time:s} {site} ~{size} @{old}>{address}"],
            {"a.c:1", "b_c.c:12", "b_c.c:14"},
        ),
        (
            "tasks and callers by address",
            ["[{task}] take({size}) @ {site} returned {address}"],
            {"init", "log"},
        ),
        (
            "a resize of no known verb, and names behind",
            [
                "new {size} @ {address} by {site}",
                "grow {old} to {size} @ {address} by {site}",
            ],
            {"json", "display", "pumps"},
        ),
        (
            "callers of hexadecimal digits alone",
            ["{time:s} + {address} {size} lr={site:x}"],
            set(),
        ),
        (
            "tasks before a colon",
            ["{task}: mem GET {size:w4} W @{address}"],
            {"net", "main"},
        ),
    ],
)
def test_a_suggested_line_keeps_who_asked_and_when(tmp_path, name, texts, told):
    path, output = put(tmp_path, *SUGGESTED[name]["text"].splitlines()), tmp_path / "o.parquet"
    command = shlex.split(run_alone("import", path, "-o", output).told.splitlines()[-1])
    assert [word for option, word in pairwise(command) if option == "--line"] == texts
    assert run_alone(*command[1:], "-o", output).code == 0
    trace = Trace.open(output)
    assert told <= {*trace.info.names.values()}
    (*_, last) = trace.batches(("time", "site"))
    if "{site:x}" in texts[0]:
        assert last["site"].tolist()[-3:] == [0x08000098, 0, 0x0800A1F4]
        assert last["time"].tolist()[-1] == 446_000
    elif "{time:s}" in texts[0]:
        assert last["time"].tolist() == [0, 750_000, 800_000, 1_625_000]
    elif "{task}" in texts[0]:
        assert (0x0800A1F4 in last["site"]) == ("{site}" in texts[0])


def test_a_field_that_begins_a_line_is_looked_for_no_further_than_names_are_long(tmp_path):
    path = put(tmp_path, "a" * 200_000 + " +0x10 @3ff0", "x" * 200_000 + "1.5 +0x10 @3ff8")
    assert len(read(path, OwnLines("{site} +{size} @{address}"))) == 2
    assert len(read(path, OwnLines("{time:s} +{size} @{address}"))) == 1


@pytest.mark.parametrize(
    ("line", "text"),
    [
        (r"{time:ms}\ {size}\ {task}", "1\\ 1\\ a=1,a=1,a=1,"),
        ("{time:s} {any} {task}: {size} {address}", " "),
        ("  {size}  {task}z", " "),
        ("a{task} {size} {address}", "a"),
        ("{size}1{address}1{task}1", "1"),
        ("{old} 0x{address} {size} {task}", " "),
        ("1{any}1a{size} {address}", "1"),
        ("1{site}.{count} 1{any}={time:s}:{address} x {size}!", "1"),
    ],
)
def test_nothing_is_looked_for_long(tmp_path: Path, line: str, text: str) -> None:
    """In lines of one's own form, 48,000 characters of them: 20 us a character at most."""
    path = put(tmp_path, *[(text * 4000)[:4000]] * 12)
    begun = time.process_time()
    read_told_names(path, line)
    with suppress(HeapfitError):
        read(path, OwnLines(line))
    assert time.process_time() - begun < 1


@pytest.mark.parametrize("text", ["(1", "(", "0x123456: a at a:", "/a:1", "alloc_thread="])
def test_a_name_in_a_long_line_is_looked_for_no_further_than_names_are_long(
    tmp_path: Path, text: str
) -> None:
    path = put(tmp_path, (text * 60_000)[:60_000])
    begun = time.process_time()
    read_told_names(path)
    assert time.process_time() - begun < 2


def test_a_call_is_found_behind_other_places_where_its_words_begin(tmp_path: Path) -> None:
    path = put(tmp_path, "+x" * 200 + " +0x10 @3ff0")
    assert len(read(path, OwnLines("+{size} @{address}"))) == 1


def test_every_field_of_a_line_is_read(tmp_path):
    path = put(
        tmp_path,
        "5 ms 100% t0x2 A 1f @20000010 by 0xabc",
        "7 ms 100% t0x2 R 20000010 to 20000040, 64 B",
        "9 ms  100% F 20000040",
    )
    own = OwnLines(
        "{time:ms} ms 100% t{task} A {size:x} @{address} by {site}\n"
        "ms 100% t{task} R {old} to {address}, {size} B",
        "{time:ms} ms 100% F {address}",
    )
    alloc, resize, free = 0, 3, 4
    assert read(path, own) == [
        (alloc, 0, 0x1F, 0, 2, 0xABC),
        (resize, 0, 64, 0, 2, 0),
        (free, 0, 0, 4000, 0, 0),
    ]


def test_sizes_may_be_words_and_a_counter_of_16_bits_begins_again(tmp_path):
    path = put(
        tmp_path,
        "65000 main| mem GET 21 W @10",
        "65300 net | mem GET 0x10 W @20",
        "12 main| mem GET 3 W @30",
        "65535 main| mem PUT @10",
        "20 main| mem PUT @20",
        "19 net | mem PUT it back",
    )
    own = OwnLines(
        "{time:ms} {any}| mem GET {size:w4} W @{address}", "{time:ms} {any}| mem PUT @{address}"
    )
    assert [row[:4] for row in read(path, own)] == [
        (0, 0, 84, 0),
        (0, 1, 64, 300_000),
        (0, 2, 12, 548_000),
        (4, 0, 0, 548_000),
        (4, 1, 0, 556_000),
    ]
    reader = own.open()
    reader.feed(path.read_bytes())
    assert reader.notes == [
        "1 time below its predecessor set to it.",
        "The clock's counter of 16 or 32 bits began again 1 time.",
        "1 line has the words of a description, but another form, and nothing is read of: "
        '"19 net | mem PUT it back".',
        "1 line of other text passed over.",
    ]


@pytest.mark.parametrize("line", ["{};new;{};{}", "new {1} {2} t={0}", "[{}] new {} {}"])
@pytest.mark.parametrize(
    ("unit", "first", "step", "boots"),
    [
        ("us", 3_900_000_000, 1_000_000, 1),  # a counter of 32 bits that passes 1,400,000,000
        ("us", 1_399_999_000, 10, 1),
        ("ms", 4_294_000_000, 3000, 1),
        ("ms", 60_000, 50, 1),  # of 16 bits
        ("s", 100, 7, 1),
        ("ms", 100, 7, 3),  # each boot begins at the first time
    ],
)
def test_a_time_that_a_field_tells_is_no_date_and_cuts_boots(
    tmp_path, line, unit, first, step, boots
):
    bits, count = 16 if first == 60_000 else 32, 3000
    times = [(first + step * (i % (count // boots))) % (1 << bits) for i in range(count)]
    calls = [line.format(one, 8 * i + 4096, 24) for i, one in enumerate(times)]
    info = import_file(
        put(tmp_path, *calls),
        tmp_path / "stored.parquet",
        ImportOptions(own_lines=OwnLines(line.format(f"{{time:{unit}}}", "{address}", "{size}"))),
    ).info
    assert info.events == count // boots
    assert any(f"has {boots} boots" in one for one in info.notes) == (boots > 1)


def test_lines_that_a_logger_wrote_twice_are_taken_once_and_told(tmp_path):
    calls = ["5;new;1000;24", "7;new;2000;8", "9;grow;2000;3000;16", "9;drop;1000", "9;drop;3000"]
    own = OwnLines(
        "{time:ms};new;{address};{size}\n{time:ms};grow;{old};{address};{size}",
        "{time:ms};drop;{address}",
    )
    once = read(put(tmp_path, *calls), own)
    twice = [one for call in calls for one in (call, call)]
    reader = own.open()
    reader.feed("\n".join([*twice, ""]).encode())
    assert read(put(tmp_path, *twice), own) == once
    assert reader.notes == ["5 lines are repeated, taken once."]
    # Of another time, or without one, or behind another line, they are calls.
    reader = own.open()
    reader.feed(b"5;new;1000;24\n6;new;1000;24\nmark\n6;new;1000;24\n")
    assert not any("repeated" in one for one in reader.notes)
    reader = OwnLines("new;{address};{size}").open()
    reader.feed(b"new;1000;24\nnew;1000;24\n")
    assert not any("repeated" in one for one in reader.notes)


def test_lines_that_look_like_calls_and_are_not_read_are_told():
    lines = ["1 main| mem GET 24 B @10", "2 net | mem GET 24 B @20", "3 net | mem idle"]
    reader = OwnLines("{task}| mem GET {size} B @{address}").open()
    reader.feed("\n".join(lines).encode() + b"\n")
    assert [note for note in reader.notes if lines[1] in note]


@pytest.mark.parametrize(
    ("own", "told"),
    [
        (OwnLines("{size:w3} at {address}"), '"size:w3" is none of address, size'),
        (OwnLines("{size} bytes", free="f {address}"), "it needs {address}, as the other lines"),
        (OwnLines("a {size}", free="f {any}"), "it needs {size}"),
        (OwnLines("at {address}"), "it needs {size}"),
        (OwnLines("a {bytes} {address}"), '"bytes" is none of address, size'),
        (OwnLines("a {size}{address}"), "words have to stand before {address}"),
        (OwnLines("{any} a {size} {address}"), "words have to stand before {any}"),
        (OwnLines("{address}"), "it has no words"),
        (OwnLines(""), "it has no words"),
        (OwnLines("%a {address} {size}"), "begins with %"),
    ],
)
def test_a_description_that_cannot_be_read_is_refused(tmp_path, own, told):
    with pytest.raises(HeapfitError, match=r"^line ") as refused:
        read(put(tmp_path, "a 1 2"), own)
    assert told in str(refused.value)


# Two blocks of 24 B with one of 100 B between them; then one of the two is freed, and 40 B come.
WITHOUT_ADDRESSES = ("malloc(24)", "malloc(100)", "malloc(24)", "free(24)", "malloc(20)")


@pytest.mark.parametrize(("is_newest", "freed"), [(False, 0), (True, 2)])
def test_without_addresses_a_free_means_one_block_of_its_size(tmp_path, is_newest, freed):
    path = put(tmp_path, *WITHOUT_ADDRESSES, "realloc 100 -> 200", "free(7)", "realloc 0 -> 8")
    own = OwnLines("malloc({size})\nrealloc {old} -> {size}", "free({size})", is_newest)
    rows = [row[:3] for row in read(path, own)]
    assert rows[3:6] == [(4, freed, 0), (0, 3, 20), (3, 1, 200)]
    assert rows[6:] == [(0, 4, 8)]  # nothing of 7 B was live


def stored_frees(path: Path) -> list[int]:
    batches = Trace.open(path).batches(("op", "object"))
    rows = (row for one in batches for row in zip(one["op"], one["object"], strict=True))
    return [int(block) for op, block in rows if op == 4]


@pytest.mark.parametrize(
    ("sizes", "needs", "freed"),
    [
        ((24, 24, -24, 48), "128 B if the oldest was, 96 B if the newest was", [0]),
        (
            (100, 24, 8, 24, -100, -24, 132),
            "200 B if the oldest was, 312 B if the newest was",
            [0, 3],
        ),
    ],
)
def test_both_readings_of_a_log_without_addresses_are_told(tmp_path, sizes, needs, freed):
    calls = (f"mem_get({size})" if size > 0 else f"free({-size})" for size in sizes)
    path, output = put(tmp_path, "hello", *calls), tmp_path / "o.parquet"
    suggested = run_alone("import", path, "-o", output)
    command = shlex.split(suggested.told.splitlines()[-1])
    assert command[-4:] == ["--line", "mem_get({size}", "--free", "free({size}"]
    ran = run_alone(*command[1:], "-o", output)
    assert f"heap_4 needs {needs}" in " ".join(ran.told.split())
    assert stored_frees(output) == freed  # of the reading that needs more


def test_a_list_of_ones_own_names_who_holds_its_blocks(tmp_path):
    lines = [
        f"--> p 0x3ffc00{i:02x}, s {20 + i}, f osi_{'mc'[i % 2]}alloc,  l 9" for i in range(16)
    ]
    path, output = put(tmp_path, *lines), tmp_path / "o.parquet"
    run_alone("import", path, "-o", output, "--line", "p {address}, s {size}, f {memory},")
    assert {*Trace.open(output).info.names.values()} == {"osi_malloc", "osi_calloc"}


NEEDS = {"0x804": 1 | 128, "8": 2, "0x80c": 1 | 2 | 128, "0x1808": 0, "0x1": 4, "1028": 8 | 128}


@pytest.mark.parametrize(
    "form", ["heap_caps_malloc(9, {}) = 0x3ffb{:04x}", "ask 9 caps {}: 0x3ffb{:04x}"]
)
def test_what_a_request_needs_of_its_memory_is_read_from_its_capabilities(tmp_path, form):
    names = {"MALLOC_CAP_DMA | MALLOC_CAP_INTERNAL": 3, "MALLOC_CAP_DEFAULT|MALLOC_CAP_DMA": 0}
    asked = NEEDS | names
    lines = [form.format(caps, 64 * i) for i, caps in enumerate(asked)]
    path, output = put(tmp_path, *lines, "done 0x3ffb0000"), tmp_path / "o.parquet"
    own = ["--line", "ask {size} caps {caps}: {address}"] if form.startswith("ask") else []
    run_alone("import", path, "-o", output, *own)
    (found,) = Trace.open(output).batches(("needs",))
    assert found["needs"].tolist() == [*asked.values()]


def test_who_asked_is_read_behind_a_call(tmp_path):
    asked = {
        "from net_init": "net_init", ", caller 0x080012a4": None, " by draw (ui.c:12)": "draw",
        "(called from lv_obj::create)": "lv_obj::create", "@ 0x8001234": None,
        "in 12 us": "", "by 3 callers": "", "from heap 2": "", "by task net": "",
    }  # fmt: skip
    lines = [f"malloc({16 + i}) = 0x2000{i:02x}00 {who}" for i, who in enumerate(asked)]
    path, output = put(tmp_path, *lines, "free(0x20000000) from net_stop"), tmp_path / "o.parquet"
    run_alone("import", path, "-o", output)
    trace = Trace.open(output)
    (found,) = trace.batches(("site",))
    sites = found["site"].tolist()[: len(asked)]
    assert [trace.info.names.get(site, "" if site == 0 else None) for site in sites] == [
        *asked.values()
    ]
    assert (sites[1], sites[4]) == (0x080012A4, 0x8001234)


def test_a_proposed_line_keeps_capabilities(tmp_path):
    lines = [
        line
        for i in range(8)
        for line in (f"get {20 + i} caps=0x{8 << i % 2:x} -> 0x3ffb{i:03x}0", f"put 0x3ffb{i:03x}0")
    ]
    suggested = run_alone("import", put(tmp_path, *lines), "-o", tmp_path / "o.parquet")
    assert "'get {size} caps={caps} -> {address}'" in suggested.told


def test_a_long_log_of_ones_own_is_told_the_line_that_reads_who_asked_and_when(tmp_path):
    lines = [
        line
        for i in range(900)
        for line in (
            f"[{i / 4:10.3f}] heap: malloc {48 + i % 2} -> 0x3ffb{16 * i:04x}"
            f" by {('send', 'parse')[i % 2]}",
            f"[{i / 4 + 0.001:10.3f}] heap: free 0x3ffb{16 * i:04x}",
        )
    ]
    path, output = put(tmp_path, *lines), tmp_path / "o.parquet"
    assert path.stat().st_size > 1 << 16
    suggested = run_alone("import", path, "-o", output)
    command = shlex.split(suggested.told.splitlines()[-1])
    assert command[4] == "heap: malloc {size} -> {address} by {site}"
    assert run_alone("forecast", path).told.splitlines()[1] == "These lines look like calls:"
    timed = [one.replace("heap:", "[ {time:s}] heap:") for one in command]
    run_alone(*timed[1:], "-o", output)
    trace = Trace.open(output)
    assert {*trace.info.names.values()} == {"send", "parse"}
    (*_, last) = trace.batches(("time",))
    assert last["time"][-1] == 224_751_000


@pytest.mark.parametrize(
    "head",
    [
        b"",
        b"hello\n",
        b"\xff" * 100,
        b"1" * 70_000,
        b"0x12345678\n" * 9,
        b"at 0x20001000 allocated",
        b'{"up":61000,"at":1768903200,"heap":180000}\n{"up":62000,"at":1768903201,"heap":179000}\n',
        b"[Trace]\t(0.001, +1)\t alloc: got 0x20001000\n[Trace]\t(0.002, +1)\t free: 0x20001000\n",
    ],
)
def test_text_without_calls_gives_no_guess(head):
    assert not suggest_own_lines(Path("own.log"), head)


# Logs of calls in no known form: the right peak, and the bytes that are never freed.
SUGGESTED = TABLES["suggested"]


@pytest.mark.parametrize("name", SUGGESTED)
def test_a_suggested_command_reads_what_it_says(tmp_path, name):
    text, peak, left = SUGGESTED[name].values()
    path, output = put(tmp_path, *text.splitlines()), tmp_path / "o.parquet"
    failed = call_heapfit("import", str(path), "-o", str(output))
    told, command = failed.stderr.splitlines()[-2:]
    assert told.endswith(f"with a peak of {peak:,} B:")
    assert call_heapfit(*shlex.split(command)[1:], "-o", str(output)).returncode == 0
    shown = " ".join(call_heapfit("profile", str(output)).stdout.split())
    assert f"U_max {peak:,} B" in shown
    assert f"never freed ({left:,} B)" in shown


# Calls of one family each: sizes of the requests in their order, 0 of a free.
FAMILIES = TABLES["families"]


def print_calls(forms: list[str], seed: int) -> tuple[str, int, int]:
    """A log of calls of three tasks in a form of one's own, how many they are, and their peak."""
    drawn, live, lines, peak = random.Random(seed), dict[int, int](), list[str](), 0
    for i in range(600):
        at, old, size = 0x20001000 + 304 * i, 0, drawn.randrange(8, 300)
        chance, told = drawn.random(), 0
        if live and chance < 0.42:
            at, told = drawn.choice([*live]), 1
            size = live.pop(at)
        elif chance < 0.6 and len(forms) > 2:
            told, old = 2, drawn.choice([0, *live])
            at = old if old and chance < 0.5 else at
            live.pop(old, None)
        if told != 1:
            live[at] = size
        peak = max(peak, sum(live.values()))
        task = drawn.choice(["main", "net", "gui"])
        lines.append(forms[told].format(t=1000 + 310 * i, a=at, o=old, s=size, k=task))
    return "\n".join(["logger v1", *lines, ""]), len(lines), peak


@pytest.mark.parametrize("form", TABLES["any_language"])
def test_verbs_of_any_language_are_found_by_what_fits(tmp_path, form):
    text, events, peak = print_calls(TABLES["any_language"][form], len(form))
    path = put(tmp_path, *text.splitlines())
    command = shlex.split(suggest_own_lines(path, path.read_bytes())[-1])
    given = [[b for a, b in pairwise(command) if a == one] for one in ("--line", "--free")]
    trace = import_file(
        path,
        tmp_path / "stored.parquet",
        ImportOptions(own_lines=OwnLines(*map("\n".join, given))),
    )
    assert (trace.info.events, profile_trace(trace).u_max) == (events, peak)
    assert not any("unknown" in one or "refused" in one for one in trace.info.notes)


@pytest.mark.parametrize("name", FAMILIES)
def test_the_calls_of_a_family_are_read_whole(tmp_path, name):
    text, sizes = FAMILIES[name].values()
    path = put(tmp_path, *text.splitlines())
    (batch,) = import_file(path, tmp_path / "o.parquet").batches(("size",))
    assert batch["size"].tolist() == sizes


def test_requests_of_unknown_names_are_named(tmp_path):
    path = put(tmp_path, "malloc(8) = 0x20000000", "my_alloc(24) = 0x20001000", "open(1) = 0x3")
    notes = import_file(path, tmp_path / "o.parquet").info.notes
    assert "1 line looks like requests of another name, and are not read: my_alloc." in notes
