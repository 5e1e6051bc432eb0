# SPDX-License-Identifier: Apache-2.0
"""`generate --prove`: a generated folder's own text is proven, and what is missing is told."""

import os
import shutil

import pytest
from small_traces import bimodal, heapfit

from heapfit.errors import HeapfitError
from heapfit.generate.proof import PROVEN, is_proven, prove_folder, prove_numbers
from heapfit.generate.proof_numbers import pools_of
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
        assert is_proven(PROOFS, [folder / "pools"])


def test_the_numbers_of_a_plan_meet_what_is_proven(folder):
    plan = next(path.name for path in folder.glob("budgeted*.toml"))
    done = heapfit("generate", plan, "-o", "budgeted", folder=folder)
    assert done.returncode == 0, done.stderr
    proof = prove_numbers(folder / "budgeted")
    assert proof.left == ()
    assert proof.goals == 2 * len(pools_of(folder / "budgeted"))  # what it says, and no writes


def test_the_numbers_of_a_plan_are_read_from_its_tables(folder):
    done = heapfit("generate", "fixed_pool.toml", "-o", "fixed", folder=folder)
    assert done.returncode == 0, done.stderr
    plan = load_plan(folder / "fixed_pool.toml").plan
    [pool] = pools_of(folder / "fixed")
    assert pool.count == plan.scalars["blocks"]
    assert pool.size == -(-plan.scalars["block_size"] // 8) * 8
    assert pool.first == 64 and pool.base >= 8 + pool.count / 8
    assert f"laid_out(0, run, {pool.size})" in pool.goal(0)


def test_pools_of_stacks_have_a_proof_and_those_that_find_blocks_by_bits_have_none(folder):
    plan = next(
        path for path in folder.glob("class_pools*.toml") if "search = 1" in path.read_text()
    )
    done = heapfit("generate", plan.name, "-o", "stacks", folder=folder)
    assert done.returncode == 0, done.stderr
    assert pools_of(folder / "stacks")
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


def test_without_provers_what_is_missing_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda tool: None if tool == "frama-c" else tool)
    with pytest.raises(HeapfitError, match=r"^--prove: not installed: frama-c \(Debian: "):
        prove_folder(tmp_path)
