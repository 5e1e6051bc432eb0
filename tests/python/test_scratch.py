# SPDX-License-Identifier: Apache-2.0
"""What a killed process leaves in a folder is removed by the next one that writes there."""

import subprocess
import sys

import pytest

from heapfit.outputs import scratch
from heapfit.outputs.file import stage_file

LEFT = """
import os, signal, sys
from pathlib import Path
from heapfit.outputs.scratch import claim_folder, scratch_file
folder, _ = claim_folder(Path(sys.argv[1]))
(folder / "part").write_text("half")
with scratch_file(Path(sys.argv[1])):
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture(autouse=True)
def unswept():
    scratch.sweep_folder.cache_clear()


def test_what_a_kill_left_goes_and_what_lives_stays(tmp_path):
    subprocess.run([sys.executable, "-c", LEFT, tmp_path], check=False)
    assert len(list(tmp_path.iterdir())) == 2
    named = tmp_path / ".heapfit-abcdefgh.part.txt"
    named.write_text("somebody's")
    with scratch.scratch_folder(tmp_path) as living:
        assert set(tmp_path.iterdir()) == {named, living}
        scratch.sweep_folder.cache_clear()
        with stage_file(tmp_path / "made") as staging:
            staging.write_text("whole")
            assert living.is_dir()
    assert sorted(path.name for path in tmp_path.iterdir()) == [named.name, "made"]


def test_a_link_is_not_followed(tmp_path):
    (tmp_path / "theirs").mkdir()
    (tmp_path / ".heapfit-abcdefgh.part").symlink_to("theirs")
    with scratch.scratch_folder(tmp_path):
        assert (tmp_path / "theirs").is_dir()
