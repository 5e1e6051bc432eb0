# SPDX-License-Identifier: Apache-2.0
"""A generated folder: it compiles alone, holds what its README says, goes stale with an error,
replaces its own work alone, takes no name for code, counts and records. Weighing it takes most of
the time: one folder is weighed."""

import hashlib
import json
import random
import re
import shutil
import subprocess
import tomllib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from generated_code import (
    HERE,
    NO_MEMSET,
    PLANS,
    ROOT,
    STRICT,
    compile_objects,
    plan_file,
    run_with_heap,
    symbols,
)
from small_traces import bimodal, heapfit, heapfit_json

from grid import thin
from heapfit.errors import HeapfitError
from heapfit.generate import GenerateOptions, generate
from heapfit.generate.linked_folder import link_images
from heapfit.generate.names import Text, comment_text, make_identifier
from heapfit.generate.tables import HeapDesign, design_from_plan_file
from heapfit.generate.texts import _environment, fill_added_texts, heap_texts, readme_text
from heapfit.importers import import_file
from heapfit.outputs.ours import allow_replacing
from heapfit.plan.plan import Plan, Pool
from heapfit.plan.plan_file import load_plan, save_plan
from program import leave_unmeasured

pytestmark = pytest.mark.usefixtures("unmeasured")


@pytest.fixture(scope="module", params=PLANS)
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Generated code of each allocator, not to be changed."""
    made = tmp_path_factory.mktemp("generated") / "code"
    with pytest.MonkeyPatch.context() as patch:
        leave_unmeasured(patch.setattr)
        generate(plan_file(PLANS[request.param]), made)
    return made


@pytest.fixture
def pools_folder(tmp_path: Path) -> Path:
    """Generated code with pools, to be changed."""
    generate(plan_file(PLANS["class_pools"]), tmp_path / "code")
    return tmp_path / "code"


def names_in(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


BUILDS = thin(12, PLANS, ["gcc", "clang"], ["-m64", "-m32"], ["-O0", "-Os", "-O3"])


@pytest.mark.parametrize(("name", "compiler", "bits", "optimise"), BUILDS)
def test_it_compiles_alone_and_needs_nothing_to_link(
    tmp_path: Path, name: str, compiler: str, bits: str, optimise: str
) -> None:
    generate(plan_file(PLANS[name]), tmp_path / "code")
    options = (bits, optimise, "-fno-pie")
    objects = compile_objects(tmp_path / "code", tmp_path / "made", *options, compiler=compiler)
    table = symbols(objects)
    given = {name for name, letter, _ in table if letter != "U"}
    assert {name for name, letter, _ in table if letter == "U"} - given == set()
    external = {name for name, letter, _ in table if letter.isupper() and letter != "U"}
    assert {name for name in external if not name.startswith(("app_", "hfit_"))} == set()


def test_the_command_and_the_program_of_the_readme_compile_and_run(
    pools_folder: Path, tmp_path: Path
) -> None:
    page = (pools_folder / "README.md").read_text()
    [program] = re.findall(r"```c\n(.*?)```", page, re.DOTALL)
    run_with_heap(pools_folder, program, tmp_path)
    [command] = re.findall(r"```sh\ncc (.*?)\n```", page, re.DOTALL)
    subprocess.run(f"gcc {command}", shell=True, cwd=pools_folder, check=True)
    command = command.replace(NO_MEMSET, "")
    subprocess.run(f"clang {command}", shell=True, cwd=pools_folder, check=True)
    assert (pools_folder / "app_heap.o").exists()


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


def test_without_a_compiler_the_readme_says_how_to_measure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    generate(plan_file(PLANS["tlsf"]), tmp_path / "code")
    page = (tmp_path / "code/README.md").read_text()
    assert "not measured" in page
    assert "-Wl,--gc-sections" in page


def test_its_two_images_are_two_of_the_compilers_three_steps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    (tmp_path / "app_heap.h").touch()
    told: list[float] = []
    with link_images(tmp_path, tmp_path / "app_heap.h", progress=lambda _, x: told.append(x)) as no:
        assert no == {}
    assert told == pytest.approx([1 / 3, 2 / 3])


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
def test_files_of_another_plan_refuse_to_compile(
    pools_folder: Path, tmp_path: Path, file: str
) -> None:
    generate(plan_file(PLANS["class_pools"], region=65_544), tmp_path / "other")
    shutil.copy(tmp_path / "other" / file, pools_folder / file)
    with pytest.raises(subprocess.CalledProcessError) as refused:
        compile_objects(pools_folder, tmp_path / "objects")
    assert "Regenerate" in refused.value.stderr


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
def test_plans_of_every_form_compile_and_start(tmp_path: Path, plan: Plan) -> None:
    generate(plan_file(plan, region=2_000_000), tmp_path / "code")
    main = '#include "app_heap.h"\nint main(void) { return !app_heap_init() || !app_heap_check(); }'
    run_with_heap(tmp_path / "code", main, tmp_path)


# ---- the contract


BOUND = ("include/hfit/contract.h", "include/hfit/pools.h", "src/pools/layout.h")
COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
# Of the code of these files, by contract. A new number gets a new line; old lines stay.
CONTRACTS = {
    1: "455af03d1cff51c2",
    2: "5bd960d22de40bb5",
    3: "cefa80948398b95b",
    4: "3301cd2f38090996",
    5: "761a83dd89b8e243",
    6: "2709eaab0a27c3eb",
    7: "86e0d17ef4dd5da4",
    8: "106ed2c8a8b8a3d1",
    9: "21490873484e4cf6",
    10: "3bd6ca99db5aeede",
}


def test_the_contract_number_grows_with_plans_and_layout() -> None:
    code = "".join((ROOT / "core" / file).read_text() for file in BOUND)
    digest = hashlib.sha256("".join(COMMENT.sub("", code).split()).encode()).hexdigest()[:16]
    version = (ROOT / "core/include/hfit/version.h").read_text()
    [number] = re.findall(r"^#define HFIT_CONTRACT (\d+)$", version, re.MULTILINE)
    assert {int(number): digest}.items() <= CONTRACTS.items(), "raise HFIT_CONTRACT in version.h"
    assert int(number) == max(CONTRACTS)


# ---- counts, and a region of another's


COUNTED = {name: PLANS[name] for name in ("first_fit", "tlsf", "budgeted")}
COUNTED["tailored"] = Plan("tailored")
GIVEN = GenerateOptions(counts=True, is_given=True)


@pytest.mark.parametrize("name", COUNTED)
def test_counts_and_free_blocks_agree_with_what_was_asked(tmp_path: Path, name: str) -> None:
    generate(plan_file(COUNTED[name], 16_384), tmp_path / "code", options=GIVEN)
    main, options = HERE / "generated_counts.c", "-fsanitize=undefined"
    run_with_heap(tmp_path / "code", main, tmp_path / "made", options)


def test_a_heap_that_hands_sizes_over_counts_what_was_asked_for(tmp_path: Path) -> None:
    generate(
        plan_file(Plan("sized"), 4096), tmp_path / "code", options=GenerateOptions(counts=True)
    )
    main = """
        #include "app_heap.h"
        int main(void) {
            app_heap_counts counts;
            (void)app_heap_init();
            void *block = app_malloc(100);
            block = app_realloc_sized(block, 100, 70);
            (void)app_malloc(0);
            app_heap_count(&counts);
            const int is_right = counts.live == 71 && counts.most_live == 100 && counts.allocs == 2;
            app_free_sized(block, 70);
            app_free_sized(NULL, 5);
            app_heap_count(&counts);
            return is_right && counts.live == 1 && counts.frees == 1 ? 0 : 1;
        }"""
    run_with_heap(tmp_path / "code", main, tmp_path / "made")


def test_a_region_that_is_handed_over_takes_no_ram(tmp_path: Path) -> None:
    generate(plan_file(PLANS["tlsf"]), tmp_path / "code", options=GIVEN)
    page = (tmp_path / "code/README.md").read_text()
    assert "| RAM | 28 bytes of variables, and a region that the program passes: 65,536" in page
    with pytest.raises(HeapfitError, match=r"the first request makes the heap, .*--region-given"):
        generate(
            plan_file(PLANS["tlsf"]), tmp_path / "cxx", options=replace(GIVEN, platforms=("c++",))
        )


def test_another_region_is_the_codes_and_the_plans(tmp_path: Path) -> None:
    save_plan(tmp_path / "plan.toml", plan_file(PLANS["tlsf"], 8192))
    done = heapfit("generate", "plan.toml", "--region", "6000", folder=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "#define APP_HEAP_BYTES 6000u" in (tmp_path / "code/app_heap.h").read_text()
    assert load_plan(tmp_path / "code/plan.toml").region == 6000
    done = heapfit("generate", "plan.toml", "--region", "6K", "--region-given", folder=tmp_path)
    assert done.returncode == 2


# ---- what is replaced


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


def test_another_plan_replaces_the_whole_folder_and_it_is_told_what_was_written(
    code: Path,
) -> None:
    (code / "tlsf.o").write_bytes(b"an object that can be built again")
    files = generate(plan_file(PLANS["first_fit"]), code)
    assert files == sorted(path for path in code.rglob("*") if path.is_file())
    assert not (code / "src/tiling/tlsf.c").exists()
    assert not (code / "tlsf.o").exists()
    assert list(code.parent.iterdir()) == [code]
    (code.parent / "empty").mkdir()
    assert generate(plan_file(PLANS["tlsf"]), code.parent / "empty")


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda code: (code / "src/port.c").touch(), "port.c: was not written by heapfit generate"),
        (lambda code: (code / "app_heap.c").write_text("mine"), "app_heap.c: was edited"),
        (lambda code: (code / "heapfit.sha256").unlink(), "was not written by heapfit generate"),
        (lambda code: (code / "heapfit.sha256").write_bytes(b"\xff\xfe\0"), "was not written by"),
        (lambda code: (code / "more").symlink_to(code.parent), "more: was not written by heapfit"),
        (lambda code: code.rename(code.parent / "old").touch(), "code: is not a folder"),
        (
            lambda code: code.symlink_to(code.rename(code.parent / "old")),
            "code: is not a folder",
        ),
    ],
)
def test_what_somebody_else_has_in_a_folder_is_left_alone(
    code: Path, change: Callable[[Path], object], told: str
) -> None:
    change(code)
    if not code.exists():
        code.write_text("mine")
    assert told in refusal(code)


def test_force_replaces_what_was_edited_and_no_file_beside_it(code: Path) -> None:
    (code / "app_heap.c").write_text("mine")
    with allow_replacing():
        generate(plan_file(PLANS["tlsf"]), code)
        assert (code / "app_heap.c").read_text() != "mine"
        (code / "src/port.c").touch()
        assert "port.c: was not written by heapfit generate" in refusal(code)
    assert (code / "src/port.c").exists()


# ---- names: 200 hostile ones change no token


PAYLOAD = "int injected;"
BREAKERS = [
    "*/", "/*", "//", "\\", "\\\n", "\n", "\r", "\r\n", "\v", "\f", "\0", "\x1a", "\x7f", "\x85",
    "\u2028", "\u2029", "\u202e", "\ufeff", "\ud800", "é", "😀", "ｘ", "??/", "??/\n", "??>", "??<",
    "??'", "%:", "<:", '"', "'", "`", "```", "|", "{{ 7*7 }}", "{% raw %}", "{#", "#error", "#}",
    "$(id)", "; rm -rf", "../../../etc/x", "<script>", "</code>", "]]>", "&amp;", "%s%n", "@", "",
]  # fmt: skip


def hostile_names() -> list[str]:
    chance = random.Random(7)
    forms = [
        (breaker, f"{PAYLOAD}{breaker}", f"{breaker}{PAYLOAD}") for breaker in BREAKERS if breaker
    ]
    mixed = ["".join(chance.choices(BREAKERS, k=8)) + PAYLOAD for _ in range(50)]
    long = ["", "a" * 5000, "?" * 5000, "int", "main", "_Static_assert", "8", "_", "hfit_plan"]
    return [*(name for form in forms for name in form), *mixed, *long]


def design_named(name: str, *platforms: str) -> HeapDesign:
    file = plan_file(PLANS["budgeted"], name=name, trace=name)
    return design_from_plan_file(file, Text("app"), GenerateOptions(platforms))


def heap_code(name: str) -> str:
    return "".join(heap_texts(design_named(name)).values())


def tokens(texts: list[str], names: list[str]) -> list[list[str]]:
    """What C sees of each text once comments are gone; plans have one identifier."""
    strip = ["gcc", "-std=c11", "-fpreprocessed", "-dD", "-E", "-P", "-xc", "-"]
    whole = "\nEND_OF_TEXT\n".join(texts)
    code = subprocess.run(strip, input=whole, capture_output=True, text=True, check=True).stdout
    parts = code.split("END_OF_TEXT")
    plans = (make_identifier(Text("app_plan"), name) for name in names)
    return [
        part.replace(plan, "app_plan_NAME").split() for part, plan in zip(parts, plans, strict=True)
    ]


def test_hostile_names_change_no_token() -> None:
    names = hostile_names()
    assert len(names) >= 200
    codes = [heap_code(name) for name in ("plain", *names)]
    expected, *found = tokens(codes, ["plain", *names])
    assert len(expected) > 500
    for name, code, told in zip(names, codes[1:], found, strict=True):
        assert told == expected, ascii(name)
        assert len(code.splitlines()) == len(codes[0].splitlines()), ascii(name)


@pytest.mark.parametrize("language", ["c++", "rust"])
def test_hostile_names_change_nothing_in_another_language_but_a_string(language: str) -> None:
    def texts(name: str) -> dict[str, str]:
        return fill_added_texts(design_named(name, language))

    plain = texts("plain")
    for name in hostile_names():
        made = texts(name)
        shown = comment_text(name)
        for file, text in plain.items():
            assert made[file] == text.replace("plan plain", f"plan {shown}").replace(
                '"plain"', f'"{shown}"'
            ), (file, ascii(name))
        if language == "rust":
            assert tomllib.loads(made["Cargo.toml"])["package"]["name"] == "app_heap"


def test_code_of_hostile_names_compiles(tmp_path: Path) -> None:
    generate(plan_file(PLANS["budgeted"]), tmp_path)
    for name in hostile_names()[::10]:
        for file, text in heap_texts(design_named(name)).items():
            (tmp_path / file).write_bytes(text.encode("ascii"))
        check = ["gcc", *STRICT, "-I.", "-fsyntax-only", "app_heap.c"]
        subprocess.run(check, cwd=tmp_path, check=True)


def test_hostile_names_stay_inside_their_cell_of_the_readme() -> None:
    plain = readme_text(design_named("plain"), [])
    for name in hostile_names():
        page = readme_text(design_named(name), [])
        cell = f"`{comment_text(name)}`"
        assert f"\n| plan | {cell} (`budgeted` over `tlsf`) |\n" in page
        assert f"\n| trained on | {cell}, 1,234 events |\n" in page
        assert page.replace(cell, "`plain`") == plain


def test_identifiers_are_c_names_and_differ_between_names() -> None:
    names = hostile_names()
    made = [make_identifier(Text("app"), name) for name in names]
    assert len(set(made)) == len(set(names))
    assert all(re.fullmatch(r"app_([a-z0-9_]+_)?[0-9a-f]{8}", name) for name in made)
    assert max(map(len, made)) <= 40


def test_comments_hold_printable_ascii_that_ends_no_comment() -> None:
    for name in hostile_names():
        assert re.fullmatch(r"[ -~]{1,80}", comment_text(name))
        assert not set(comment_text(name)) & set("/\\?*`<>|&$\"'#{}")
    assert comment_text("lwIP echo, run 2 (32 bit)") == "lwIP echo, run 2 (32 bit)"


def test_a_template_takes_no_text_that_was_not_checked() -> None:
    template = _environment().from_string("{{ name }}")
    assert template.render(name=Text("checked")) == "checked"
    with pytest.raises(TypeError, match="was given str"):
        template.render(name="unchecked")


# ---- with --record it records itself: each call, as the program made it


RECORDING_FLAGS = ("gcc", "-std=c11", "-Wall", "-Wextra", "-Wconversion", "-Werror", NO_MEMSET)
PROGRAM = """
#include "app_heap.h"
#ifdef APP_HEAP_RECORDS
#include "record.h"
#endif
#include "sinks/sinks.h"
#include <stdio.h>

int main(void) {
    hfit_character_sink out = {.put = putchar};
    unsigned char outside = 0;
    if (app_malloc(7) != NULL || !app_heap_init()) {
        return 1; /* the first was asked of no heap */
    }
    void *first = app_malloc(100);
    void *second = app_calloc(3, 10);
    void *third = app_aligned_alloc(64, 24);
    FREE(&outside);
    first = RESIZE(first, 100, 500);
    if (first == NULL || third == NULL || app_malloc(70000) != NULL) {
        return 1;
    }
    FREE_OF(second, 30);
    FREE_OF(NULL, 0);
    hfit_record_close_frame(&app_heap_recorder);
    return hfit_record_drain(&app_heap_recorder, hfit_record_to_characters, &out) ? 0 : 1;
}
"""
PLAIN = (
    *("-DFREE(block)=app_free(block)", "-DFREE_OF(block,size)=app_free(block)"),
    "-DRESIZE(block,old,size)=app_realloc(block,size)",
)
SIZED = (
    *("-DFREE(block)=(void)(block)", "-DFREE_OF(block,size)=app_free_sized(block,size)"),
    "-DRESIZE(block,old,size)=app_realloc_sized(block,old,size)",
)
COLUMNS = {  # of what was served: malloc, calloc, aligned_alloc, realloc of the first, free
    "op": [0, 0, 2, 3, 4],
    "object": [0, 1, 2, 0, 1],
    "size": [100, 30, 24, 500, 0],
    "alignment": [0, 0, 64, 0, 0],
}
REFUSED = ("2 requests that the heap refused left out, the largest of 70000 bytes.",)


@pytest.mark.parametrize("name", ["tlsf", "budgeted", "sized", "one file"])
def test_a_heap_records_what_its_program_asks(name: str, tmp_path: Path) -> None:
    options = GenerateOptions(("one-file",) if name == "one file" else (), records=True)
    plan = PLANS.get(name, Plan("sized" if name == "sized" else "tlsf"))
    generate(plan_file(plan, 16_384), tmp_path / "code", options=options)
    (tmp_path / "main.c").write_text(PROGRAM)
    sources = [*tmp_path.glob("code/*.c"), *tmp_path.glob("code/src/*/*.c")]
    sources += [tmp_path / "code/sinks/characters.c", tmp_path / "main.c"]
    forms = SIZED if name == "sized" else PLAIN
    command = [*RECORDING_FLAGS, *forms, "-Icode", *map(str, sources), "-o", "program"]
    subprocess.run(command, cwd=tmp_path, check=True)
    log = subprocess.run([tmp_path / "program"], check=True, capture_output=True).stdout
    (tmp_path / "heapfit.frames").write_bytes(log)
    trace = import_file(tmp_path / "heapfit.frames", tmp_path / "trace.parquet")
    columns = next(trace.batches(tuple(COLUMNS)))
    assert {name: column.tolist() for name, column in columns.items()} == COLUMNS
    assert trace.info.notes == REFUSED


# ---- as typed


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    folder = tmp_path_factory.mktemp("generate")
    bimodal(folder / "packets.heap", events=400, pointer_bits=64)
    heapfit_json("fit", "packets.heap", "--plans", ".", folder=folder)
    return folder


def test_the_files_written_are_printed_and_a_recording_of_64_bits_is_warned_of(fitted):
    done = heapfit("generate", "tlsf.toml", "-o", "heap", folder=fitted)
    assert done.returncode == 0
    assert done.stderr.startswith("recorded on 64 bit: sizes differ on 32")
    assert set(done.stdout.split()) == {
        str(path.relative_to(fitted)) for path in (fitted / "heap").rglob("*") if path.is_file()
    }
