# SPDX-License-Identifier: Apache-2.0
"""`generate` replaces its own work and nothing else, and leaves a whole folder or none."""

from pathlib import Path

import pytest
from generated_code import PLANS, plan_file

from heapfit.errors import HeapfitError
from heapfit.generate import folder as folder_module
from heapfit.generate import generate
from heapfit.outputs.ours import allow_replacing

pytestmark = pytest.mark.usefixtures("unmeasured")


@pytest.fixture
def code(tmp_path: Path) -> Path:
    generate(plan_file(PLANS["class_pools"]), tmp_path / "code")
    return tmp_path / "code"


def content(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def refusal(code: Path) -> str:
    """The message of a refusal that changed nothing."""
    before = content(code.parent)
    with pytest.raises(HeapfitError) as caught:
        generate(plan_file(PLANS["first_fit"]), code)
    assert content(code.parent) == before
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_it_returns_the_files_it_wrote(tmp_path: Path) -> None:
    files = generate(plan_file(PLANS["tlsf"]), tmp_path / "deep/in/code")
    assert files == sorted(path for path in (tmp_path / "deep").rglob("*") if path.is_file())


def test_another_plan_replaces_the_whole_folder(code: Path) -> None:
    (code / "tlsf.o").write_bytes(b"an object that can be built again")
    generate(plan_file(PLANS["first_fit"]), code)
    assert not (code / "src/tiling/tlsf.c").exists()
    assert not (code / "tlsf.o").exists()
    assert (code / "src/tiling/first_fit.c").exists()
    assert list(code.parent.iterdir()) == [code]


def test_an_empty_folder_is_taken(tmp_path: Path) -> None:
    (tmp_path / "code").mkdir()
    assert generate(plan_file(PLANS["tlsf"]), tmp_path / "code")


def test_a_folder_of_somebody_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "code").mkdir()
    (tmp_path / "code/main.c").write_text("int main(void);")
    assert "main.c: was not written by heapfit generate" in refusal(tmp_path / "code")


def test_a_file_put_beside_the_generated_ones_is_left_alone(code: Path) -> None:
    (code / "src/port.c").touch()
    assert "port.c: was not written by heapfit generate" in refusal(code)


def test_force_replaces_what_was_edited_and_no_file_beside_it(code: Path) -> None:
    (code / "app_heap.c").write_text("mine")
    with allow_replacing():
        generate(plan_file(PLANS["tlsf"]), code)
        assert (code / "app_heap.c").read_text() != "mine"
        (code / "src/port.c").touch()
        assert "port.c: was not written by heapfit generate" in refusal(code)
    assert (code / "src/port.c").exists()


def test_an_edited_file_is_left_alone(code: Path) -> None:
    with (code / "app_heap.c").open("a") as file:
        file.write("/* mine */")
    assert "app_heap.c: was edited" in refusal(code)


def test_a_folder_whose_list_is_lost_is_left_alone(code: Path) -> None:
    (code / "heapfit.sha256").unlink()
    assert "was not written by heapfit generate" in refusal(code)


def test_a_list_of_garbage_counts_as_none(code: Path) -> None:
    (code / "heapfit.sha256").write_bytes(b"\xff\xfe\0")
    assert "was not written by heapfit generate" in refusal(code)


def test_a_link_to_a_folder_is_not_followed(code: Path) -> None:
    link = code.parent / "link"
    link.symlink_to(code)
    assert "link: is not a folder" in refusal(link)
    assert link.is_symlink()


def test_a_link_inside_is_no_file_of_ours(code: Path) -> None:
    (code / "more").symlink_to(code.parent)
    assert "more: was not written by heapfit generate" in refusal(code)


def test_a_file_in_the_way_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "code").write_text("mine")
    assert "code: is not a folder" in refusal(tmp_path / "code")


def test_a_parent_that_is_a_file_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(HeapfitError, match=r"code: cannot be written: .* \(choose another place\)"):
        generate(plan_file(PLANS["tlsf"]), tmp_path / "file/code")


def test_a_failure_on_the_way_leaves_the_old_folder(
    code: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def disk_full(_folder: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(folder_module, "_write_manifest", disk_full)
    assert "code: cannot be written: No space left on device" in refusal(code)
