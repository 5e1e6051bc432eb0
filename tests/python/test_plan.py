# SPDX-License-Identifier: Apache-2.0
"""Plan files: what is written is read back, and whatever else lies there is refused in one line."""

import tomllib
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_traces import heapfit, heapfit_json

from heapfit import _engine
from heapfit.errors import HeapfitError, SeveralFaultsError
from heapfit.plan.plan import Plan, Pool
from heapfit.plan.plan_file import (
    BY_HAND,
    PlanFile,
    TrainingRecord,
    TrainingTrace,
    load_plan,
    save_plan,
)

pytestmark = pytest.mark.usefixtures("unmeasured")

BUDGETED = Plan(
    "budgeted",
    {"alignment": 8},
    (Pool(528, 9, True), Pool(1040, 10, True)),
    Plan("tlsf", {"alignment": 8}),
)
PLAN_FILE = PlanFile(
    name="budgeted_4_largest",
    plan=BUDGETED,
    region=23_040,
    r_min=22_976,
    base_alignment=8,
    u_max=22_528,
    pointer_bits=32,
    trained_on=TrainingRecord("echo", "sha256:" + 64 * "0", 20_480),
    heapfit_version=_engine.version,
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "plan.toml"
    save_plan(path, PLAN_FILE)
    return path


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


def refusal(path: Path) -> str:
    """The first thing that is wrong."""
    return refusals(path)[0]


def refusals(path: Path) -> list[str]:
    with pytest.raises(HeapfitError) as caught:
        load_plan(path)
    messages = str(caught.value).split("\n")
    assert all(message.startswith(f"{path}: ") for message in messages)
    assert isinstance(caught.value, SeveralFaultsError) == (len(messages) > 1)
    return [message.removeprefix(f"{path}: ") for message in messages]


def test_a_saved_plan_is_read_back_equal(path: Path) -> None:
    assert load_plan(path) == PLAN_FILE


pools = st.lists(
    st.tuples(st.integers(1, 4000), st.integers(0, 50), st.booleans()),
    max_size=12,
    unique_by=lambda pool: pool[0],
)


@given(
    pools=pools,
    alignment=st.sampled_from([4, 8, 16]),
    has_shared=st.booleans(),
    region=st.none() | st.integers(2**24, 2**32 - 1),
    trace=st.text(st.characters(categories=["L", "N", "P", "S"]), min_size=1, max_size=200),
)
def test_any_plan_is_read_back_equal(
    tmp_path_factory: pytest.TempPathFactory,
    pools: list[tuple[int, int, bool]],
    alignment: int,
    has_shared: bool,
    region: int | None,
    trace: str,
) -> None:
    scalars = {"alignment": alignment}
    plan = Plan(
        "class_pools",
        scalars,
        tuple(Pool(*pool) for pool in sorted(pools)),
        Plan("tlsf", scalars) if has_shared else None,
    )
    trained_on = replace(PLAN_FILE.trained_on, trace=trace)
    plan_file = replace(
        PLAN_FILE, plan=plan, region=region, r_min=None, base_alignment=16, trained_on=trained_on
    )
    path = tmp_path_factory.mktemp("plan") / "plan.toml"
    save_plan(path, plan_file)
    assert load_plan(path) == plan_file


def test_a_plan_without_a_region_says_so_by_leaving_it_out(path: Path) -> None:
    save_plan(path, replace(PLAN_FILE, region=None, r_min=None))
    assert "region" not in tomllib.loads(path.read_text())
    assert load_plan(path).region is None


def test_a_plan_of_several_traces_keeps_each(path: Path) -> None:
    seen = tuple(TrainingTrace(f"run{i}", "sha256:" + 64 * str(i)) for i in (1, 2))
    trained_on = replace(PLAN_FILE.trained_on, traces=seen)
    save_plan(path, replace(PLAN_FILE, trained_on=trained_on))
    assert load_plan(path).trained_on == trained_on
    assert [trained_on.has_seen("sha256:" + 64 * digit) for digit in "0123"] == [1, 1, 1, 0]
    edit(path, "sha256:22", "sha1:22")
    assert refusal(path).startswith("trained_on.traces[1].content: must be sha256:")


def test_a_plan_of_another_version_is_refused_with_what_to_do(path: Path) -> None:
    edit(path, "schema = 1", "schema = 2")
    edit(path, "[plan]", "[plan]\nwhatever = 3")
    assert refusal(path) == (
        f"schema: the plan has version 2, heapfit {_engine.version} reads 1 "
        "(make it anew with heapfit fit)"
    )


@pytest.mark.parametrize(
    ("old", "new", "where"),
    [
        ("u_max", "u_maxx", 'u_maxx: unknown key (did you mean "u_max"?'),
        ("events", "event", 'trained_on.events: missing (did you mean "event"?'),
        ("pointer_bits = 32", "pointer_bits = 32\nspeed = 1", "speed: unknown key"),
        ("pointer_bits = 32", "pointer_bits = 16", "pointer_bits: must be 32, 64 or 0"),
        ("pointer_bits = 32", "pointer_bits = true", "pointer_bits: must be a whole number"),
        ("base_alignment = 8", "base_alignment = 12", "base_alignment: must be a power of two"),
        ("base_alignment = 8", "base_alignment = 4", "base_alignment: 4 is below the plan's"),
        ("base_alignment = 8", "base_alignment = 4294967296", "base_alignment: must be a whole"),
        ("u_max", "margin = true\nu_max", "margin: must be a number from 0 to 1000"),
        ("u_max", 'margin = "9"\nu_max', "margin: must be a number from 0 to 1000"),
        ("region = 23040", "region = 4294967296", "region: must be a whole number from 1 to"),
        ("region = 23040", "region = 64", "region: 64 is below the"),
        ("region = 23040", "region = 22552\npeak = 22600", "region: 22552 is below the 22600 live"),
        ("sha256:", "md5:", "trained_on.content: must be sha256:"),
        ('allocator = "budgeted"', 'allocator = "malloc"', 'plan.allocator: no allocator "malloc"'),
        ("alignment = 8\npools", "alignment = 32\npools", "plan.alignment: must be a whole number"),
        ("alignment = 8\npools", "alignment = 12\npools", "plan: "),
        ("size = 1040", "size = 528", "plan: "),
        ("size = 1040", "size = 0", "plan.pools[1].size: must be a whole number from 1 to"),
        ("size = 1040", "size = 1e3", "plan.pools[1].size: must be a whole number from 1 to"),
        ("count = 10", "count = -1", "plan.pools[1].count: must be a whole number from 0 to"),
        ("count = 10, ", "", "plan.pools[1].count: missing"),
        ("count = 10", "count = 4294967295", "plan: "),
        ("count = 10", "count = 10, colour = 1", "plan.pools[1].colour: unknown key"),
        ("exact = true", "exact = 1", "plan.pools[0].exact: must be true or false, not 1"),
        ('allocator = "tlsf"', 'allocator = "tlsf"\npools = []', "plan.shared.pools: unknown key"),
        ("alignment = 8\npools", "borrow = 1\npools", "plan.borrow: unknown key (remove it;"),
    ],
)
def test_a_wrong_value_is_refused_by_its_key(path: Path, old: str, new: str, where: str) -> None:
    edit(path, old, new)
    assert refusal(path).startswith(where)


WRONG = """\
name = "1st"
region = -1
margin = 1001
base_alignmant = 8
pointer_bits = 16
colour = "red"

[trained_on]
trace = ""
content = "md5:0"

[plan]
allocator = "class_pools"
alignment = 3
serch = 1
pools = [
    { size = 40, count = -1, exact = true },
    { size = 64, count = 2, exact = 0, speed = 1 },
    { count = 2, exact = true },
]

[plan.shared]
allocator = "malloc"
"""


def test_all_that_is_wrong_is_told_at_once(tmp_path: Path) -> None:
    path = tmp_path / "plan.toml"
    path.write_text(WRONG)
    assert [message.split(" (")[0].split(", not")[0] for message in refusals(path)] == [
        "trained_on.trace: must be 1 to 200 printable characters",
        "trained_on.content: must be sha256: and 64 hexadecimal digits",
        "trained_on.events: missing",
        "trained_on.kind: missing",
        "name: must be a letter, then letters, digits, _ and -",
        "plan.alignment: must be a whole number from 4 to 16",
        "plan.pools[0].count: must be a whole number from 0 to 4294967295",
        "plan.pools[1].exact: must be true or false",
        "plan.pools[1].speed: unknown key",
        "plan.pools[2].size: missing",
        'plan.shared.allocator: no allocator "malloc"',
        "plan.serch: unknown key",
        "region: must be a whole number from 1 to 4294967295",
        "pointer_bits: must be 32, 64 or 0",
        "margin: must be a number from 0 to 1000",
        "base_alignmant: unknown key",
        "colour: unknown key",
    ]
    assert 'plan.serch: unknown key (did you mean "search"?' in "\n".join(refusals(path))


def test_the_command_line_tells_each_in_a_line(tmp_path: Path) -> None:
    (tmp_path / "plan.toml").write_text(WRONG)
    done = heapfit("generate", "plan.toml", "-o", "code", folder=tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    lines = done.stderr.splitlines()
    assert len(lines) == 17
    assert all(line.startswith("heapfit: plan.toml: ") for line in lines)
    assert not (tmp_path / "code").exists()


@pytest.mark.parametrize(
    "text",
    ['allocator = "tlsf"', 'allocator = "budgeted"\nalignment = 16\npools = []'],
)
def test_a_plan_by_hand_needs_an_allocator_and_tunables_alone(tmp_path: Path, text: str) -> None:
    path = tmp_path / "my plan.toml"
    path.write_text(f"[plan]\n{text}\n")
    loaded = load_plan(path)
    assert loaded.name == "my_plan"
    assert (loaded.region, loaded.r_min, loaded.u_max, loaded.pointer_bits) == (None, None, 0, 0)
    assert loaded.base_alignment == loaded.plan.alignment
    assert (loaded.trained_on, loaded.runs) == (BY_HAND, 0)
    assert (loaded.r_safe, loaded.peak, loaded.margin) == (None, None, None)
    assert not loaded.trained_on.has_seen("sha256:" + 64 * "0")
    save_plan(tmp_path / "again.toml", loaded)
    assert load_plan(tmp_path / "again.toml") == loaded


def test_a_plan_by_hand_is_compared_and_with_a_region_becomes_code(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text('[plan]\nallocator = "tlsf"\nalignment = 4\n')
    (tmp_path / "t.heap").write_text("# heap-events 1\na 0 40\na 1 100\nf 0\n")
    content = heapfit_json("compare", "t.heap", "--plan", "mine.toml", folder=tmp_path)
    (row,) = [row for row in content["rows"] if row["name"] == "mine"]
    assert row["r_safe"] > 140
    without = heapfit("generate", "mine.toml", "-o", "code", folder=tmp_path)
    assert without.returncode == 1 and "no region" in without.stderr
    text = (tmp_path / "mine.toml").read_text()
    (tmp_path / "mine.toml").write_text(f"region = {row['r_safe']}\n{text}")
    done = heapfit("generate", "mine.toml", "-o", "code", folder=tmp_path)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    "name",
    [
        "",
        "../../etc/passwd",
        "a/b",
        "a*/ system(1); /*",
        "a\nb",
        "1st",
        "a b",
        "\x1b[31mred",
        "ü",
        "a" * 65,
    ],
)
def test_a_name_that_could_break_out_of_a_path_or_a_comment_is_refused(
    tmp_path: Path, name: str
) -> None:
    path = tmp_path / "plan.toml"
    save_plan(path, replace(PLAN_FILE, name=name))
    assert refusal(path).startswith("name: must be")


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"PAR1\x00\x15\x04",
        b"\xff\xfe\x00",
        b"schema = ",
        b"x = " + 100_000 * b"[",
        2_000_000 * b"#",
        b"schema = 1\n" + b"[plan" + 300 * b".shared" + b"]",
        b"\x1b[31m = 1\nschema = 1",
        b'"\\u001b[31m" = 1\nschema = 1',
    ],
)
def test_a_foreign_file_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "plan.toml"
    path.write_bytes(content)
    assert refusal(path).isprintable()


def test_plans_nested_without_end_are_refused(tmp_path: Path) -> None:
    plan = Plan("tlsf")
    for _ in range(8):
        plan = Plan("budgeted", {}, (), plan)
    path = tmp_path / "plan.toml"
    save_plan(path, replace(PLAN_FILE, plan=plan))
    refusal(path)


@pytest.mark.parametrize(
    "text",
    [
        *(
            "a." * 50_000 + "a = 1",
            "[" + "'a' . " * 1000 + "b]",
            'x = {"a".b' + ".c" * 90 + " = 1}",
        ),
        *("x = " + "[" * 100_000, "x = " + "[" * 50_000 + "]" * 50_000, "x = " + "{a = " * 20_000),
        *("x = " + "[{a.b.c = " * 10_000, "x = " + "[{'' = " * 140_000),
    ],
)
def test_endless_keys_arrays_and_tables_are_refused_before_they_are_parsed(
    tmp_path: Path, text: str
) -> None:
    path = tmp_path / "plan.toml"
    path.write_text(text)
    assert "nested too deeply" in refusal(path)


def test_many_keys_of_many_parts_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "plan.toml"
    path.write_text("".join(f"[{i}{'.a' * 30}]\n" for i in range(2200)))
    assert "too many dots" in refusal(path)
    path.write_text("".join(f"[{i}{'.a' * 30}]\n" for i in range(2100)))
    assert "plan: missing" in refusal(path)


def test_many_numbers_are_no_endless_key(tmp_path: Path) -> None:
    path = tmp_path / "plan.toml"
    path.write_text(f"sizes = [{'1.5, ' * 1000}]\n[plan]\nallocator = 'tlsf'\n")
    assert "sizes: unknown key" in refusal(path)


def test_a_failed_write_leaves_the_old_plan_and_nothing_else(path: Path) -> None:
    before = path.read_bytes()
    with pytest.raises(TypeError):
        save_plan(path, replace(PLAN_FILE, u_max=object()))  # type: ignore[arg-type]
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


def test_a_plan_is_written_over_an_unedited_one_alone(path: Path) -> None:
    save_plan(path, replace(PLAN_FILE, name="other"))
    assert load_plan(path).name == "other"
    for edited in ("# mine\n" + path.read_text(), path.read_text() + "\n", "", "\udcff"):
        path.write_text(edited, errors="surrogateescape")
        before = path.read_bytes()
        with pytest.raises(HeapfitError, match="was edited, or not written by this heapfit"):
            save_plan(path, PLAN_FILE)
        assert path.read_bytes() == before


@pytest.mark.parametrize(
    "text",
    ["a." * 50_000 + "a = 1", "[" + "'a' . " * 1000 + "b]", 'x = {"a".b' + ".c" * 90 + " = 1}"],
)
def test_a_key_of_endless_parts_is_refused_before_it_is_parsed(tmp_path: Path, text: str) -> None:
    path = tmp_path / "plan.toml"
    path.write_text(text)
    assert "nested too deeply" in refusal(path)


@pytest.mark.parametrize(
    "text",
    [
        "x = " + "[" * 100_000,
        "x = " + "[" * 50_000 + "]" * 50_000,
        "x = " + "{a = " * 20_000,
        "x = " + "[{a.b.c = " * 10_000,
        "x = " + "[{'' = " * 140_000,
    ],
)
def test_endless_arrays_and_tables_are_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "plan.toml"
    path.write_text(text)
    assert "nested too deeply" in refusal(path)
