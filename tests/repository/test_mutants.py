# SPDX-License-Identifier: Apache-2.0
"""The mutation tool: which faults it makes, which it draws, and what a kept result rests on."""

import subprocess
from pathlib import Path

import pytest

import mutation
from mutants.core_judge import allocators_of
from mutants.draw import POPULATIONS, ages_of_lines, changed_lines, in_drawn_order, on_changed_lines
from mutants.engine_judge import judging_files
from mutants.equivalents import Equivalent, equivalents
from mutants.faults import mutants_of
from mutants.mutant import Mutant, mutated
from mutants.native import Build
from mutants.package_judge import distance, import_graph
from mutants.score import Score
from mutants.tree import Tree
from mutants.verdict import INVALID, KILLED, SAME, SURVIVED, TIMEOUT, Kept, Verdict

C_SOURCE = b"""\
static bool f(int a, int b) {
    HFIT_ASSERT(a < 9);
    if (a < b && g(a, b)) {
        return false;
    }
    call(a);
    return a + 2 > b;
}
"""
CPP_SOURCE = b"""\
namespace n {
Some Thing::find(int a) const {
    if (is_there(a)) throw Error("at", a + 1);
    return made(a);
}
}
"""
PYTHON_SOURCE = b'''\
class A:
    """Of 3."""

    def f(self, a: int, b: int = 7) -> int:
        """Adds 1."""
        if a not in self.seen or a <= b:
            raise ValueError(f"{a + 1}")
        self.seen = a
        other = [x for x in zip(a, a, strict=True) if x.is_free]
        return a // b if a else other[0]
'''


def changes(file: str, source: bytes) -> set[tuple[str, str, str]]:
    return {(one.operator, one.was, one.becomes) for one in mutants_of(file, source)}


def test_faults_of_c_are_these() -> None:
    assert changes("a.c", C_SOURCE) == {
        ("logic", "&&", "||"), ("comparison", "<", "<="), ("comparison", "<", ">="),
        ("condition", "a < b && g(a, b)", "(!(a < b && g(a, b)))"), ("arguments", "a, b", "b, a"),
        ("constant", "false", "true"), ("statement", "call(a);", ";"),
        ("return", "a + 2 > b", "0"), ("comparison", ">", ">="), ("comparison", ">", "<="),
        ("arithmetic", "+", "-"), ("constant", "2", "(2 + 1)"), ("constant", "2", "(2 - 1)"),
    }  # fmt: skip


def test_what_is_thrown_is_no_fault_in_cpp() -> None:
    assert changes("a.cpp", CPP_SOURCE) == {
        ("condition", "is_there(a)", "(!(is_there(a)))"), ("return", "made(a)", "{}"),
    }  # fmt: skip
    assert {one.function for one in mutants_of("a.cpp", CPP_SOURCE)} == {"find"}


def test_faults_of_python_are_these() -> None:
    assert changes("a.py", PYTHON_SOURCE) == {
        ("logic", "or", "and"), ("comparison", "not in", "in"),
        ("comparison", "<=", "<"), ("comparison", "<=", ">"),
        ("condition", "a not in self.seen or a <= b", "(not (a not in self.seen or a <= b))"),
        ("statement", "self.seen = a", "pass"), ("condition", "x.is_free", "(not (x.is_free))"),
        ("return", "a // b if a else other[0]", "None"), ("condition", "a", "(not (a))"),
        ("arithmetic", "//", "*"), ("constant", "0", "(0 + 1)"), ("constant", "0", "(0 - 1)"),
    }  # fmt: skip
    assert {one.function for one in mutants_of("a.py", PYTHON_SOURCE)} == {"A.f"}


def test_a_mutant_keeps_the_lines_that_follow_where_they_are() -> None:
    source = b"void f(void) {\n    call(a,\n         b);\n    more();\n}\n"
    without = next(one for one in mutants_of("a.c", source) if one.was.startswith("call"))
    assert without.line == 2
    assert mutated(source, without) == b"void f(void) {\n    ;\n\n    more();\n}\n"


def test_a_key_stays_when_other_functions_change_and_lapses_with_its_own() -> None:
    keys = {one.key for one in mutants_of("a.c", C_SOURCE)}
    moved = b"static int g(int a) {\n    return a;\n}\n" + C_SOURCE
    assert keys < {one.key for one in mutants_of("a.c", moved)}
    changed = C_SOURCE.replace(b"call(a)", b"call(b)")
    assert keys.isdisjoint({one.key for one in mutants_of("a.c", changed)})


def test_a_draw_is_told_by_its_seed_and_changes_where_the_source_does() -> None:
    before = mutants_of("a.c", C_SOURCE)
    order = in_drawn_order(before, 1)
    assert order == in_drawn_order(before[::-1], 1)
    assert order != in_drawn_order(before, 2)
    more = before + mutants_of("b.c", C_SOURCE)
    assert [one for one in in_drawn_order(more, 1) if one.file == "a.c"] == order


def test_new_lines_are_drawn_more_often_than_old_ones(root: Path) -> None:
    year = 365 * 86_400
    ages = {"a.c": [year if number < 6 else 0 for number in range(9)]}
    mutants = mutants_of("a.c", C_SOURCE)
    first = [in_drawn_order(mutants, seed, ages)[0].line for seed in range(400)]
    new = sum(one.line >= 7 for one in mutants)
    expected = 400 * 4 * new / (4 * new + len(mutants) - new)
    assert 0 < new < len(mutants)
    assert abs(sum(line >= 7 for line in first) - expected) < 40
    lines = ages_of_lines(root, ["core/allocators.def"])["core/allocators.def"]
    assert len(lines) == len((root / "core/allocators.def").read_text().splitlines())
    assert max(lines) > 0


@pytest.mark.parametrize("population", POPULATIONS.values(), ids=lambda one: one.name)
def test_each_population_has_thousands_of_mutants_with_keys_of_their_own(
    root: Path, population: object
) -> None:
    mutants = population.mutants(root)
    assert len(mutants) > 5000
    assert len({one.key for one in mutants}) == len(mutants)
    for one in mutants[::500]:
        source = (root / one.file).read_bytes()
        assert source[one.start : one.end].decode() == one.was
        assert mutated(source, one).count(b"\n") >= source.count(b"\n")


def git(folder: Path, *words: str) -> None:
    name = ["-c", "user.name=a", "-c", "user.email=a@b"]
    subprocess.run(["git", "-C", folder, *name, *words], check=True, capture_output=True)


@pytest.fixture
def changed(tmp_path: Path) -> Path:
    """A repository whose second function has changed since its commit."""
    git(tmp_path, "init")
    (tmp_path / "a.c").write_text("int f(int a) {\n    return a + 1;\n}\n\nint g(void);\n")
    git(tmp_path, "add", "a.c")
    git(tmp_path, "commit", "-m", "a")
    text = "int f(int a) {\n    return a + 1;\n}\n\nint g(int a) {\n    return a - 3;\n}\n"
    (tmp_path / "a.c").write_text(text)
    return tmp_path


def test_only_changed_lines_are_mutated_since_a_commit(changed: Path) -> None:
    assert changed_lines(changed, "HEAD") == {"a.c": {5, 6, 7}}
    mutants = mutants_of("a.c", (changed / "a.c").read_bytes())
    assert {one.function for one in on_changed_lines(changed, mutants, "HEAD")} == {"g"}


def test_a_changed_file_of_any_bytes_hides_no_other(changed: Path) -> None:
    """Some of the fuzzers' corpus is text to git, and no UTF-8."""
    (changed / "0").write_bytes(b"\xd0\x0b+++ b/b.c\x1c(\n")
    subprocess.run(["git", "add", "-N", "0"], cwd=changed, check=True)
    assert changed_lines(changed, "HEAD") == {"0": {1}, "a.c": {5, 6, 7}}


def test_a_commit_that_git_does_not_know_is_told_in_a_line(changed: Path) -> None:
    with pytest.raises(SystemExit, match="git: fatal: bad revision 'nowhere'"):
        changed_lines(changed, "nowhere")


def test_nothing_is_built_where_no_line_has_changed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mutation, "JUDGES", {})
    mutation.judge_changed(POPULATIONS["core"], [], "HEAD", 20)
    assert capsys.readouterr().out == "core: no mutants on the lines changed since HEAD\n"


def a_mutant() -> Mutant:
    return next(one for one in mutants_of("a.c", C_SOURCE) if one.was == "&&")


@pytest.fixture
def tested(tmp_path: Path) -> Path:
    """A source and two tests."""
    (tmp_path / "a.c").write_bytes(C_SOURCE)
    (tmp_path / "tests").mkdir()
    for name in ("one.c", "two.c"):
        (tmp_path / "tests" / name).write_text(name)
    return tmp_path


@pytest.mark.parametrize(
    ("verdict", "holds_after_one", "holds_after_two"),
    [
        (Verdict(KILLED, "tests/one.c"), False, True),
        (Verdict(TIMEOUT, "tests/two.c"), True, False),
        (Verdict(SURVIVED), False, False),
        (Verdict(INVALID), True, True),
        (Verdict(SAME), True, True),
    ],
)
def test_a_kept_result_holds_until_what_it_rests_on_changes(
    tested: Path, verdict: Verdict, holds_after_one: bool, holds_after_two: bool
) -> None:
    file = tested / "kept.csv"
    for name, holds in (("one.c", holds_after_one), ("two.c", holds_after_two)):
        Kept(tested, file).keep(a_mutant(), verdict, ["tests"])
        assert Kept(tested, file).find(a_mutant(), ["tests"]) == verdict
        (tested / "tests" / name).write_text("changed")
        found = Kept(tested, file).find(a_mutant(), ["tests"])
        assert found == (verdict if holds else None)


def test_a_survivor_is_judged_again_when_there_is_a_new_test(tested: Path) -> None:
    kept = Kept(tested, tested / "kept.csv")
    for ending in (".py", ".c", ".cpp"):
        kept.keep(a_mutant(), Verdict(SURVIVED), ["tests"])
        assert kept.find(a_mutant(), ["tests"]) == Verdict(SURVIVED)
        (tested / "tests" / f"test_new{ending}").write_text("new")
        assert kept.find(a_mutant(), ["tests"]) is None


def test_a_score_counts_timeouts_as_killed_and_named_equivalents_apart() -> None:
    kinds = [KILLED, KILLED, TIMEOUT, SURVIVED, SURVIVED, SAME, INVALID]
    rows = [{"verdict": kind, "key": str(i)} for i, kind in enumerate(kinds)]
    score = Score.of(rows, {"4"})
    assert score == Score(2, 1, 1, 1, 1, 1)
    assert (score.judged, score.share) == (5, 0.75)


def test_a_named_equivalent_is_told_by_its_line_and_fault() -> None:
    row = {"file": "a.c", "function": "f", "text": "x = 4;", "was": "4", "becomes": "(4 - 1)"}
    one = Equivalent("a.c", "f", "x = 4;", "4", "(4 - 1)", "rounded up to the same")
    assert one.matches(row)
    assert not one.matches({**row, "text": "y = 4;"})


def test_every_named_equivalent_is_a_mutant_with_an_argument(root: Path) -> None:
    for one in equivalents(root):
        mutants = mutants_of(one.file, (root / one.file).read_bytes())
        lines = (root / one.file).read_text().splitlines()
        assert any(
            (found.function, found.was, found.becomes) == (one.function, one.was, one.becomes)
            and lines[found.line - 1].strip() == one.line
            for found in mutants
        ), one
        assert len(one.reason.split()) > 5


def test_a_tree_holds_a_fault_no_longer_than_it_is_judged(changed: Path) -> None:
    tree = Tree(changed, "core")
    sound = (tree.top / "a.c").read_bytes()
    mutant = next(one for one in mutants_of("a.c", sound) if one.was == "-")
    with tree.faulty(mutant):
        assert b"a + 3" in (tree.top / "a.c").read_bytes()
    assert (tree.top / "a.c").read_bytes() == sound == (changed / "a.c").read_bytes()


def test_a_command_without_an_end_is_told_from_one_that_fails(changed: Path) -> None:
    tree = Tree(changed, "core")
    assert tree.run(["sh", "-c", "exit 3"], 5) == 3
    assert tree.run(["sh", "-c", "while :; do :; done"], 1) is None


def test_a_build_tells_what_does_not_compile_and_what_comes_to_the_same(tmp_path: Path) -> None:
    git(tmp_path, "init")
    (tmp_path / "a.c").write_text("int f(int a) {\n    return a * 2;\n}\n")
    lists = "cmake_minimum_required(VERSION 3.25)\nproject(a C)\nadd_library(a STATIC a.c)\n"
    (tmp_path / "CMakeLists.txt").write_text(lists)
    build = Build(Tree(tmp_path, "core"), "a", ["-DCMAKE_C_FLAGS=-O1"])
    file = build.tree.top / "a.c"
    sound = build.made(["liba.a"])
    for text, made in (("a + a", sound), ("a * 3", None), ("b", None)):
        file.write_text(f"int f(int a) {{\n    return {text};\n}}\n")
        assert build.compiles(file) == (text != "b")
        assert (build.made(["liba.a"]) == sound) == (made is not None)


def test_tests_of_a_file_are_those_of_the_allocators_that_include_it(root: Path) -> None:
    sources = allocators_of(root)
    assert len(sources) >= 10
    of_trie = {name for name, files in sources.items() if "core/src/tiling/trie.h" in files}
    assert "best_fit" in of_trie
    assert "first_fit" not in of_trie
    assert all("core/src/operations/operations.h" in files for files in sources.values())


def test_tests_of_the_engine_are_those_of_the_room(root: Path) -> None:
    texts = {file.stem: file.read_text() for file in (root / "tests/engine").glob("*.cpp")}
    found = judging_files("engine/src/packing/packing.cpp", texts)
    assert found[0] == "tests/engine/test_packing.cpp"
    assert all((root / one).is_file() for one in found)
    rooms = [folder.name for folder in (root / "engine/src").iterdir() if folder.is_dir()]
    assert all(judging_files(f"engine/src/{room}/a.cpp", texts) for room in rooms)


def test_the_nearest_test_is_one_that_imports_the_module(root: Path) -> None:
    graph = import_graph(root)
    assert distance(graph, "tests/python/test_margin.py", "heapfit.comparison.margin") == 1
    assert distance(graph, "tests/python/test_margin.py", "nowhere") == 99
