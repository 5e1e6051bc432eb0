# SPDX-License-Identifier: Apache-2.0
"""`generate --prove`: a generated folder's own text is proven, and what is missing is told."""

import os
import random
import re
import subprocess
from dataclasses import replace

import pytest
from small_traces import bimodal, heapfit

from heapfit.cli.generate import require_proof
from heapfit.errors import HeapfitError
from heapfit.generate import GenerateOptions, generate, proof_numbers
from heapfit.generate.proof import PROVEN, is_proven, prove_folder, prove_goals, prove_numbers
from heapfit.generate.proof_numbers import goals_of, tables_of
from heapfit.plan.plan_file import load_plan
from prove import INCLUDES, PROOFS, mutants

ALL = os.environ.get("HEAPFIT_ALL_PROOFS") == "1"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("proof")
    bimodal(folder / "packets.heap", events=400, pointer_bits=32)
    done = heapfit("fit", "packets.heap", "--plans", ".", folder=folder)
    assert done.returncode == 0, done.stderr
    return folder


def test_all_goals_of_a_generated_folder_are_proven(folder):
    """The whole takes minutes; in the short form the list's own functions."""
    plan = next(path.name for path in folder.glob("budgeted*.toml"))
    proving = ("--prove",) if ALL else ()
    done = heapfit("generate", plan, "-o", "pools", *proving, folder=folder)
    assert done.returncode == 0, done.stderr
    if ALL:
        proven, _, goals, *_ = done.stdout.splitlines()[-1].split()
        assert int(proven) == int(goals) > 250
    else:
        assert is_proven(PROOFS, [folder / "pools"], seconds=80)  # 1 where nothing else runs


def test_the_numbers_of_a_plan_meet_what_is_proven(folder):
    plan = next(path.name for path in folder.glob("budgeted*.toml"))
    done = heapfit("generate", plan, "-o", "budgeted", folder=folder)
    assert done.returncode == 0, done.stderr
    proof = prove_numbers(folder / "budgeted")
    assert proof.left == ()
    [table] = tables_of(folder / "budgeted")
    pools, pairs = len(table.pools), len(table.pools) * (len(table.pools) - 1) // 2
    assert pools == 3
    of_table = 5 * pools + 3 * pairs + 2 + pools  # places, pairs, the index as a whole and by pool
    assert proof.goals == 2 * pools + of_table + 1  # what each says, and no writes


# The n-th number of a pool's row, and its range when spoiled, from the pools before and behind it.
KINDS = {
    "blocks overlap": ("base", lambda pools, at, draw: draw.randrange(
        pools[at - 1]["base"] - 8 * (pools[at]["count"] - 1), pools[at]["base"], 8)),
    "used bits shared": ("used_bit", lambda pools, at, draw: draw.randrange(
        pools[at - 1]["used_bit"], pools[at]["used_bit"])),
    "beyond the region": ("base", lambda pools, at, draw: draw.choice(
        [2**30, 2**29, 2**20, 65536]) + 8 * draw.randrange(1000) + pools[at]["base"]),
    "size of another pool": ("size", lambda pools, at, draw: draw.randrange(
        pools[at]["block_size"] + 1, 2**16)),
}  # fmt: skip


def spoiled(text, kind, seed):
    """The text of a plan's tables with one number of one pool spoiled."""
    draw = random.Random(f"{kind} {seed}")
    rows = list(re.finditer(r"\{(\.size = .*?)\}", text, re.DOTALL))
    pools = [{n: int(v) for n, v in re.findall(r"\.(\w+) = (\d+)u", row[1])} for row in rows]
    at = draw.randrange(1, len(pools))
    name, value = KINDS[kind]
    row = re.sub(rf"\.{name} = \d+u", f".{name} = {value(pools, at, draw)}u", rows[at][0])
    return text[: rows[at].start()] + row + text[rows[at].end() :]


@pytest.mark.parametrize("plan", ["budgeted_4_largest", *(["class_pools"] if ALL else [])])
def test_of_twenty_spoiled_tables_of_each_kind_none_is_proven(folder, tmp_path, plan):
    """One run of WP over all tables, by its simplifier alone; the short form has two of each."""
    done = heapfit("generate", f"{plan}.toml", "-o", str(tmp_path / "code"), folder=folder)
    assert done.returncode == 0, done.stderr
    [tables] = (tmp_path / "code").glob("*_plan.h")
    text, goals, whose = tables.read_text(), [], {}
    for kind in KINDS:
        for seed in range(20 if ALL else 2):
            tables.write_text(spoiled(text, kind, seed))
            name = f"table_{len(whose)}"
            goals.append(goals_of(tmp_path / "code")[1].split("/*@ ")[-1].replace("table_0", name))
            whose[name] = (kind, seed)
    proof = prove_goals(tmp_path / "code", list(whose), "".join(f"/*@ {g}" for g in goals), "qed")
    failed = {re.search(r"table_\d+", goal)[0] for goal in proof.left}
    assert [whose[name] for name in whose if name not in failed] == []
    assert proof.proven > 40 * len(whose) / 2  # and what is sound about them is


def test_a_folder_that_is_not_proven_is_not_there(folder, monkeypatch):
    made = tables_of
    monkeypatch.setattr(
        proof_numbers,
        "tables_of",
        lambda staging: [replace(table, region=table.end - 8) for table in made(staging)],
    )
    plan = load_plan(folder / "budgeted_4_largest.toml")
    options = GenerateOptions(inspect=require_proof)
    with pytest.raises(HeapfitError, match=r"goals not proven, nothing written: .*_inside_2"):
        generate(plan, folder / "failing", options=options)
    assert not (folder / "failing").exists()
    assert not list(folder.glob(".failing*"))


def test_the_numbers_of_a_plan_are_read_from_its_tables(folder):
    done = heapfit("generate", "fixed_pool.toml", "-o", "fixed", folder=folder)
    assert done.returncode == 0, done.stderr
    plan = load_plan(folder / "fixed_pool.toml").plan
    [table] = tables_of(folder / "fixed")
    [pool] = table.pools
    assert pool["count"] == plan.scalars["blocks"]
    assert pool["block_size"] == -(-plan.scalars["block_size"] // 8) * 8
    assert pool["used_bit"] == 64 and pool["base"] >= 8 + pool["count"] / 8
    assert f"laid_out(0, run, {pool['block_size']})" in goals_of(folder / "fixed")[1]


def test_pools_of_stacks_have_a_proof_and_those_that_find_blocks_by_bits_have_none(folder):
    plan = next(
        path for path in folder.glob("class_pools*.toml") if "search = 1" in path.read_text()
    )
    done = heapfit("generate", plan.name, "-o", "stacks", folder=folder)
    assert done.returncode == 0, done.stderr
    [table] = tables_of(folder / "stacks")
    assert table.control == 4 * len(load_plan(plan).plan.pools) + 4  # a list each, and the mark
    (folder / "bits.toml").write_text(plan.read_text().replace("search = 1", "search = 0"))
    done = heapfit("generate", "bits.toml", "-o", "bits", "--prove", folder=folder)
    assert done.returncode == 1
    assert "free blocks are found by their bits (search = 0)" in done.stderr


def test_a_list_that_loses_a_block_is_not_proven(tmp_path):
    text = (INCLUDES[0] / PROVEN).read_text()
    changed = dict(mutants(text))
    where = next(name for name in changed if "next` to `heap, list, number" in name)
    (tmp_path / PROVEN).parent.mkdir(parents=True)
    (tmp_path / PROVEN).write_text(changed[where])
    assert not is_proven(PROOFS, [tmp_path, *INCLUDES], seconds=2)


def test_a_plan_without_pools_has_no_proof(folder):
    done = heapfit("generate", "tlsf.toml", "-o", "none", "--prove", folder=folder)
    assert done.returncode == 1
    assert "proofs exist for pools only" in done.stderr
    assert not (folder / "none").exists()


def test_without_provers_what_is_missing_is_told(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(HeapfitError, match=r"^--prove: not installed: frama-c.* \(Debian: "):
        prove_folder(tmp_path)


def test_provers_that_cannot_be_detected_are_one_line(monkeypatch):
    real = subprocess.run
    monkeypatch.setattr(subprocess, "run", lambda _, **how: real(["false"], **how))
    with pytest.raises(HeapfitError, match=r"^why3: [^\n]*$"):
        is_proven(PROOFS, INCLUDES)
