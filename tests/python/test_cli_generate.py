# SPDX-License-Identifier: Apache-2.0
"""`heapfit generate`, as typed; what it writes is tested in test_generate.py."""

import pytest
from small_traces import bimodal, heapfit, heapfit_json


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("generate")
    bimodal(folder / "packets.heap", events=400, pointer_bits=64)
    heapfit_json("fit", "packets.heap", "--plans", ".", folder=folder)
    return folder


def test_the_files_written_are_printed(folder):
    done = heapfit("generate", "tlsf.toml", "-o", "heap", folder=folder)
    assert done.returncode == 0, done.stderr
    assert set(done.stdout.split()) == {
        str(path.relative_to(folder)) for path in (folder / "heap").rglob("*") if path.is_file()
    }


def test_a_plan_of_a_64_bit_recording_is_warned_of(folder):
    done = heapfit("generate", "tlsf.toml", "-o", "warned", folder=folder)
    assert done.stderr.startswith("recorded on 64 bit: sizes on a 32-bit target will differ")
    (warning,) = heapfit_json("generate", "tlsf.toml", "-o", "json", folder=folder)["warnings"]
    assert warning.startswith("recorded on 64 bit")


def test_a_plan_of_another_version_is_one_line(folder):
    plan = (folder / "tlsf.toml").read_text().replace("schema = 1", "schema = 7")
    (folder / "later.toml").write_text(plan)
    done = heapfit("generate", "later.toml", "-o", "later", folder=folder)
    assert (done.returncode, done.stdout) == (1, "")
    (line,) = done.stderr.splitlines()
    assert line.startswith("heapfit: later.toml: schema: the plan has version 7")
    assert not (folder / "later").exists()


def test_a_plan_of_a_baseline_is_one_line_and_no_code(folder):
    plan = (folder / "tlsf.toml").read_text()
    plan = plan.replace('allocator = "tlsf"', 'allocator = "kingsley"')
    plan = plan.replace("second_level", "step")
    (folder / "baseline.toml").write_text(plan)
    done = heapfit("generate", "baseline.toml", "-o", "baseline", folder=folder)
    assert (done.returncode, done.stdout) == (1, "")
    (line,) = done.stderr.splitlines()
    assert "kingsley is a baseline for comparison and is not shipped (choose one of" in line
    assert not (folder / "baseline").exists()
