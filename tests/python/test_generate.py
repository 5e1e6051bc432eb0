# SPDX-License-Identifier: Apache-2.0
"""A generated folder compiles alone, holds what its README says, and goes stale with an error."""

import hashlib
import json
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from generated_code import (
    NO_MEMSET,
    PLANS,
    ROOT,
    compile_objects,
    plan_file,
    run_with_heap,
    symbols,
)

from grid import thin
from heapfit.errors import HeapfitError
from heapfit.generate import generate, linked_folder
from heapfit.plan.plan import Plan, Pool
from heapfit.plan.plan_file import load_plan


@pytest.fixture(scope="module", params=PLANS)
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Generated code of each allocator, not to be changed."""
    made = tmp_path_factory.mktemp("generated") / "code"
    generate(plan_file(PLANS[request.param]), made)
    return made


@pytest.fixture
def pools_folder(tmp_path: Path) -> Path:
    """Generated code with pools, to be changed."""
    generate(plan_file(PLANS["class_pools"]), tmp_path / "code")
    return tmp_path / "code"


def names_in(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


BUILDS = thin(5, ["gcc", "clang"], ["-m64", "-m32"], ["-O0", "-Os", "-O3"])


@pytest.mark.parametrize(("compiler", "bits", "optimise"), BUILDS)
def test_it_compiles_alone_and_needs_nothing_to_link(
    folder: Path, tmp_path: Path, compiler: str, bits: str, optimise: str
) -> None:
    table = symbols(
        compile_objects(folder, tmp_path, bits, optimise, "-fno-pie", compiler=compiler)
    )
    given = {name for name, letter, _ in table if letter != "U"}
    assert {name for name, letter, _ in table if letter == "U"} - given == set()
    external = {name for name, letter, _ in table if letter.isupper() and letter != "U"}
    assert {name for name in external if not name.startswith(("app_", "hfit_"))} == set()


def test_the_command_of_the_readme_compiles_it(folder: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(folder, tmp_path / "code")
    [command] = re.findall(r"```sh\ncc (.*?)\n```", (copy / "README.md").read_text(), re.DOTALL)
    subprocess.run(f"gcc {command}", shell=True, cwd=copy, check=True)
    subprocess.run(f"clang {command.replace(NO_MEMSET, '')}", shell=True, cwd=copy, check=True)
    assert (copy / "app_heap.o").exists()


def test_the_program_of_the_readme_runs(folder: Path, tmp_path: Path) -> None:
    [program] = re.findall(r"```c\n(.*?)```", (folder / "README.md").read_text(), re.DOTALL)
    run_with_heap(folder, program, tmp_path)


def test_its_header_serves_cxx(folder: Path) -> None:
    program = '#include "app_heap.h"\n#include "app_heap.h"\nvoid f() { app_free(app_malloc(1)); }'
    command = ["g++", "-std=c++17", "-Wall", "-Wextra", "-Werror", "-xc++", "-fsyntax-only"]
    subprocess.run([*command, f"-I{folder}", "-"], input=program, text=True, check=True)


def test_core_is_copied_unchanged_and_no_more_than_is_needed(folder: Path) -> None:
    copied = names_in(folder / "hfit") | names_in(folder / "src")
    assert "version.h" in copied
    for name in names_in(folder / "hfit") - {"stamp.h", "plan_of_build.h"}:
        original = ROOT / "core/include/hfit" / name
        assert (folder / "hfit" / name).read_bytes() == original.read_bytes()
    for name in names_in(folder / "src"):
        assert (folder / "src" / name).read_bytes() == (ROOT / "core/src" / name).read_bytes()
    assert copied.isdisjoint({"registry.c", "pools/pools.c", "registry.h"})
    assert (folder / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()


def test_a_plan_without_pools_gets_no_file_of_the_pools(tmp_path: Path) -> None:
    generate(plan_file(PLANS["tlsf"]), tmp_path / "code")
    assert names_in(tmp_path / "code/src") == {
        "tiling/tlsf.c", "tiling/tiling.h", "tiling/chunk.h", "tiling/free_list.h",
        "tiling/coded.h", "region.h", "size.h", "operations/operations.h", "operations/work.h",
        "operations/guarded.h", "operations/canary.h", "operations/quarantine.h",
    }  # fmt: skip


def test_the_readme_tells_the_bytes_that_a_32_bit_target_needs(
    folder: Path, tmp_path: Path
) -> None:
    options = ("-m32", "-Os", "-fno-pie")
    table = symbols(compile_objects(folder, tmp_path, *options, "-DHFIT_ANY_PLAN"))
    sizes = {name: (letter, size) for name, letter, size in table}
    page = (folder / "README.md").read_text().replace(",", "")
    rom = sum(size for name, (_, size) in sizes.items() if name.startswith("app_plan_"))
    assert f"| at most {rom} bytes on a 32-bit target |" in page
    built_for_it = symbols(compile_objects(folder, tmp_path, *options))
    assert sum(size for name, _, size in built_for_it if name.startswith("app_plan_")) <= rom
    ram = sum(size for letter, size in sizes.values() if letter in "bBdDC")
    assert sizes["app_heap_region"][1] == 65_536
    assert ram == 65_536 + 4
    assert "| 65536 bytes of region aligned to 64 and 4 bytes of variables |" in page


def test_the_readme_tells_the_code_size_and_who_measured_it(folder: Path) -> None:
    page = (folder / "README.md").read_text()
    sizes = re.findall(r"\| ROM, code .*\| ([\d,]+) bytes: .*cc.* \d+\.\d+", page)
    assert sizes
    titles = re.findall(r"^\| (ROM[^|]*) \|", page, re.MULTILINE)
    assert len(set(titles)) == len(titles) > 1
    assert all(300 < int(size.replace(",", "")) < 12_000 for size in sizes)


def test_the_readme_warns_of_a_heap_recorded_on_64_bits(tmp_path: Path) -> None:
    plan = plan_file(PLANS["tlsf"])
    for bits in (32, 64):
        generate(replace(plan, pointer_bits=bits), tmp_path / str(bits))
    assert "Caution" not in (tmp_path / "32/README.md").read_text()
    page = (tmp_path / "64/README.md").read_text()
    assert "Caution: recorded on 64 bit: sizes on a 32-bit target will differ" in page


def test_without_a_compiler_the_readme_says_how_to_measure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    generate(plan_file(PLANS["tlsf"]), tmp_path / "code")
    page = (tmp_path / "code/README.md").read_text()
    assert "not measured" in page
    assert "-Wl,--gc-sections" in page


def test_the_list_of_hashes_is_true_and_complete(folder: Path) -> None:
    check = ["sha256sum", "--check", "--strict", "--quiet", "heapfit.sha256"]
    subprocess.run(check, cwd=folder, check=True)
    listed = {line[66:] for line in (folder / "heapfit.sha256").read_text().splitlines()}
    assert names_in(folder) == listed | {"heapfit.sha256"}


def test_the_list_of_parts_has_every_file_with_its_hashes(folder: Path) -> None:
    parts = json.loads((folder / "heapfit.spdx.json").read_text())
    assert parts["spdxVersion"] == "SPDX-2.3"
    listed = {file["fileName"].removeprefix("./"): file for file in parts["files"]}
    assert set(listed) == names_in(folder) - {"heapfit.spdx.json", "heapfit.sha256"}
    for name, file in listed.items():
        content = (folder / name).read_bytes()
        for checksum in file["checksums"]:
            made = hashlib.new(checksum["algorithm"].lower(), content).hexdigest()
            assert checksum["checksumValue"] == made, name
    package = parts["packages"][0]["SPDXID"]
    told = [tuple(one.values()) for one in parts["relationships"]]
    assert told[0] == (parts["SPDXID"], "DESCRIBES", package)
    contained = {other for whole, verb, other in told if (whole, verb) == (package, "CONTAINS")}
    assert contained >= {file["SPDXID"] for file in parts["files"]}


def test_the_plan_inside_generates_the_same_code_again(folder: Path, tmp_path: Path) -> None:
    generate(load_plan(folder / "plan.toml"), tmp_path / "again")
    for name in names_in(folder):
        assert (tmp_path / "again" / name).read_bytes() == (folder / name).read_bytes(), name


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("hfit/version.h", "#define HFIT_CONTRACT ", "#define HFIT_CONTRACT 9"),
        ("hfit/version.h", "#define HFIT_CONTRACT", "#define HFIT_OTHER"),
        ("hfit/stamp.h", "#define HFIT_STAMP 0x", "#define HFIT_STAMP 0x1"),
        ("hfit/pools.h", "FREE_LIST_SIZE 4u", "FREE_LIST_SIZE 8u"),
        ("hfit/plan_of_build.h", "HFIT_DESIGN_OF_BUILD 0x", "HFIT_DESIGN_OF_BUILD 0x1"),
    ],
)
@pytest.mark.usefixtures("unmeasured")
def test_files_of_another_core_refuse_to_compile(
    pools_folder: Path, tmp_path: Path, file: str, old: str, new: str
) -> None:
    text = (pools_folder / file).read_text()
    assert old in text
    (pools_folder / file).write_text(text.replace(old, new))
    with pytest.raises(subprocess.CalledProcessError) as refused:
        compile_objects(pools_folder, tmp_path / "objects")
    assert "Regenerate" in refused.value.stderr


@pytest.mark.parametrize("file", ["app_heap.h", "app_heap.c"])
@pytest.mark.usefixtures("unmeasured")
def test_files_of_another_plan_refuse_to_compile(
    pools_folder: Path, tmp_path: Path, file: str
) -> None:
    generate(plan_file(PLANS["class_pools"], region=65_544), tmp_path / "other")
    shutil.copy(tmp_path / "other" / file, pools_folder / file)
    with pytest.raises(subprocess.CalledProcessError) as refused:
        compile_objects(pools_folder, tmp_path / "objects")
    assert "Regenerate" in refused.value.stderr


@pytest.mark.usefixtures("unmeasured")
def test_two_heaps_share_a_core_that_is_built_for_any_plan(tmp_path: Path) -> None:
    generate(plan_file(PLANS["budgeted"]), tmp_path / "net", "net")
    generate(plan_file(PLANS["first_fit"]), tmp_path / "ui", "ui")
    shutil.copytree(tmp_path / "ui", tmp_path / "net", dirs_exist_ok=True)
    with pytest.raises(subprocess.CalledProcessError) as refused:
        compile_objects(tmp_path / "net", tmp_path / "objects")
    assert "HFIT_ANY_PLAN" in refused.value.stderr
    objects = compile_objects(tmp_path / "net", tmp_path / "objects", "-DHFIT_ANY_PLAN")
    assert {"net_malloc", "ui_malloc"} <= {name for name, _, _ in symbols(objects)}


def test_a_baseline_is_refused_wherever_it_stands_in_a_plan(tmp_path: Path) -> None:
    behind_pools = Plan("budgeted", pools=(Pool(40, 16, True),), shared=Plan("halffit"))
    for plan in (Plan("halffit"), behind_pools):
        with pytest.raises(HeapfitError, match="halffit is a baseline"):
            generate(plan_file(plan), tmp_path / "code")
    assert not any(tmp_path.iterdir())


def test_blocks_in_pieces_are_no_malloc(tmp_path: Path) -> None:
    with pytest.raises(
        HeapfitError, match="chained_pool lie in pieces, which a malloc cannot give"
    ):
        generate(plan_file(Plan("chained_pool")), tmp_path / "code")
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize("prefix", ["", "App", "1app", "app-2", "a b", "hfit", "hfit_x", "a" * 33])
def test_a_prefix_that_is_no_name_is_refused(tmp_path: Path, prefix: str) -> None:
    with pytest.raises(HeapfitError, match=r"prefix .*: must be"):
        generate(plan_file(PLANS["tlsf"]), tmp_path / "code", prefix)
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("region", "base_alignment", "reason"),
    [
        (None, 16, "has no region size"),
        (16, 16, "cannot hold it"),
        (2**32, 16, "cannot hold it"),
        (4096, 4, "base alignment"),
        (4096, 48, "base alignment"),
        (4096, 2**29, "base alignment"),
    ],
)
def test_a_plan_that_is_no_heap_is_refused(
    tmp_path: Path, region: int | None, base_alignment: int, reason: str
) -> None:
    plan = plan_file(PLANS["first_fit"], region, base_alignment=base_alignment)
    with pytest.raises(HeapfitError, match=reason):
        generate(plan, tmp_path / "code")
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize(
    "plan",
    [
        Plan("class_pools", pools=(Pool(40, 10, True),)),
        Plan("class_pools", shared=PLANS["budgeted"]),
        Plan("budgeted", {"alignment": 16}, (Pool(7, 0, True), Pool(17, 33, True))),
        Plan("first_fit", {"coalesce": 0, "alignment": 4}),
        Plan("class_pools", pools=tuple(Pool(8 * i + 8, i % 9, i % 2 == 0) for i in range(300))),
    ],
)
@pytest.mark.usefixtures("unmeasured")
def test_plans_of_every_form_compile_and_start(tmp_path: Path, plan: Plan) -> None:
    generate(plan_file(plan, region=2_000_000), tmp_path / "code")
    main = '#include "app_heap.h"\nint main(void) { return !app_heap_init() || !app_heap_check(); }'
    run_with_heap(tmp_path / "code", main, tmp_path)


def test_a_compiler_tells_of_each_function_and_its_failure_is_one(tmp_path):
    told: list[bool] = []
    words = ["printf", r"\t.type\ta, %%function\n\tbx lr\n\t.type\tb, %%function\n"]
    linked_folder._compile(tmp_path, words, tmp_path / "a.s", lambda: told.append(True))
    assert len(told) == 2
    assert (tmp_path / "a.s").read_text().splitlines()[1] == "\tbx lr"
    with pytest.raises(linked_folder.FAILURES):
        linked_folder._compile(tmp_path, ["false"], tmp_path / "b.s", lambda: None)
