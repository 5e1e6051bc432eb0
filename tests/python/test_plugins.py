# SPDX-License-Identifier: Apache-2.0
"""Allocators of others: built, measured by the rules of ours, and told by `heapfit compare`."""

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from heapfit.comparison.measuring import Ground, measure_candidate
from heapfit.design.portfolio import build_portfolio
from heapfit.errors import HeapfitError
from heapfit.plugin import INCLUDE, Plugin, build, measure, plugin_of, plugins_of
from heapfit.plugin.faults import EXTREMES, NO_HARM, NOT_RUN
from heapfit.trace.loaded import load_trace
from heapfit.trace.stored import Trace
from program import run_heapfit

ROOT = Path(__file__).parents[2]
ECHO = ROOT / "examples/lwip-echo/lwip-echo.parquet"
PLUGINS = Path(__file__).parent / "plugins"
PLANS = {"tlsf": "{{8},0,2}", "best_fit": "{{8}}"}


def own(name: str) -> Plugin:
    """An allocator of core, with an adapter."""
    core = ROOT / "core"
    flags = ("-ffreestanding", "-fno-tree-loop-distribute-patterns", f"-DNAME={name}")
    return Plugin(
        name,
        (PLUGINS / "core.c", core / f"src/tiling/{name}.c"),
        32,
        (*flags, f"-I{core / 'include'}", f"-I{core}", f"-DPLAN_VALUES={PLANS[name]}"),
    )


@pytest.mark.parametrize("name", PLANS)
def test_an_allocator_of_ours_given_as_a_plug_in_has_the_engines_figures(
    name: str, tmp_path: Path
) -> None:
    trace = Trace.open(ECHO)
    loaded = load_trace(trace, 8)
    (candidate,) = build_portfolio(loaded, [name], []).candidates
    ground = Ground(loaded.profile.u_max, max(trace.largest_alignment, 8))
    engine = measure_candidate(candidate, loaded.events, ground)

    row = measure(build(own(name), tmp_path), ECHO, 8)

    assert engine.replay is not None
    assert (row.r_min, row.r_safe) == (engine.r_min, engine.r_safe)
    assert row.placements == engine.replay.placement_hash
    assert (row.loads, row.stores) == (engine.replay.loads, engine.replay.stores)
    assert (row.statics_bytes, row.faults, row.is_sized) == (0, (), False)


def test_variables_count_in_the_region_and_are_told(tmp_path: Path) -> None:
    (tmp_path / "big.c").write_text(
        '#include "heapfit_plugin.h"\n'
        "static char *next, *end;\nstatic volatile char table[1000];\n"
        "void *plugin_init(void *region, size_t size, size_t alignment) {\n"
        "    (void)alignment; next = region; end = next + size; table[size % 1000] = 1;\n"
        "    return region;\n}\n"
        "void *plugin_alloc(void *heap, size_t size) {\n"
        "    (void)heap; size = (size + 7) / 8 * 8;\n"
        "    if (size > (size_t)(end - next)) return 0;\n"
        "    next += size; return next - size;\n}\n"
        "void plugin_free(void *heap, void *block) { (void)heap; (void)block; }\n"
    )
    built = build(plugin_of(tmp_path / "big.c"), tmp_path / "built")

    assert dict(built.statics) == {"table": 1000, "end": 4, "next": 4}
    assert built.statics_bytes >= 1008


def test_malloc_of_its_own_is_no_foreign_memory(tmp_path: Path) -> None:
    source = (PLUGINS / "faulty.c").read_text()
    (tmp_path / "own.c").write_text(
        source.replace("take(h, 8, asked)", "malloc(asked)")
        .replace(
            "void *plugin_alloc(",
            "static heap *it;\nvoid *malloc(size_t n) { return take(it, 8, n); }"
            "\nvoid *plugin_alloc(",
        )
        .replace("h->requests++;", "h->requests++; it = h;")
    )
    plugin = plugin_of(tmp_path / "own.c", cflags=["-DFAULT=NONE", "-fno-builtin"])

    assert measure(build(plugin, tmp_path / "built"), ECHO).faults == ()


BUMP_IN_CXX = """
#include "heapfit_plugin.h"
namespace {
struct heap { char *next, *end; };
}
void *plugin_init(void *region, size_t size, size_t) {
    if (size < LEAST) return nullptr;
    auto *h = static_cast<heap *>(region);
    *h = {static_cast<char *>(region) + 16, static_cast<char *>(region) + size};
    return h;
}
void *plugin_alloc(void *all, size_t size) {
    auto *h = static_cast<heap *>(all);
    const size_t left = static_cast<size_t>(h->end - h->next);
    if (size > left || (size + 7) / 8 * 8 > left) return nullptr;
    char *block = h->next;
    h->next += (size + 7) / 8 * 8;
    return block;
}
void plugin_free(void *, void *) {}
"""


@pytest.mark.parametrize("bits", [32, 64])
def test_a_plug_in_in_cxx_is_metered_and_what_no_attack_reached_is_told(
    bits: int, tmp_path: Path
) -> None:
    source = tmp_path / "bump.cpp"
    source.write_text(BUMP_IN_CXX)
    row = measure(build(plugin_of(source, bits, ["-DLEAST=70000"]), tmp_path / "built"), ECHO)

    assert (row.bits, row.faults) == (bits, ())
    assert row.loads is not None and row.loads >= row.operations // 2
    outcomes = {*row.attacks.values(), *row.misuse.values(), *row.extremes.values()}
    assert outcomes == {NOT_RUN}  # attacks' region is below the least that it takes
    assert row.r_safe is not None


def test_an_archive_is_a_plug_in_whose_accesses_are_not_known(tmp_path: Path) -> None:
    bump = ROOT / "examples/plugins/bump.c"
    words = ("gcc", "-m32", "-O2", "-fno-pie", f"-I{INCLUDE}", "-c", str(bump), "-o", "bump.o")
    subprocess.run(words, cwd=tmp_path, check=True)
    subprocess.run(("ar", "rc", "libbump.a", "bump.o"), cwd=tmp_path, check=True)

    archived = measure(build(plugin_of(tmp_path / "libbump.a"), tmp_path / "built"), ECHO)
    compiled = measure(build(plugin_of(bump), tmp_path / "other"), ECHO)

    assert archived.loads is None and compiled.loads is not None
    assert (archived.r_min, archived.placements) == (compiled.r_min, compiled.placements)
    assert archived.extremes == dict.fromkeys(EXTREMES, NO_HARM)


def test_what_cannot_be_built_is_told_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "half.c").write_text('#include "heapfit_plugin.h"\n')
    with pytest.raises(HeapfitError, match="plugin_init"):
        build(plugin_of(tmp_path / "half.c"), tmp_path / "built")
    with pytest.raises(HeapfitError, match="no such plug-in"):
        plugin_of(tmp_path / "none.c")
    with pytest.raises(HeapfitError, match=r"\(known: "):
        plugin_of(ECHO)
    (tmp_path / "wrong.c").write_text("int one = nothing;\nint two = none;\nint three = {;\n" * 9)
    with pytest.raises(
        HeapfitError, match=r"gcc: ended with 1: \S+wrong\.c:1:11: error: .nothing."
    ):
        build(plugin_of(tmp_path / "wrong.c"), tmp_path / "built")


def test_flags_are_of_all_plug_ins_or_of_the_one_that_is_named(tmp_path: Path) -> None:
    paths = [tmp_path / "one.c", tmp_path / "two.c"]
    for path in paths:
        path.touch()

    one, two = plugins_of(paths, 32, ["-DALL -DTEXT='a: b'", "two: -DTWO"])

    assert one.cflags == ("-DALL", "-DTEXT=a: b", f"-I{tmp_path}")
    assert two.cflags == ("-DALL", "-DTEXT=a: b", "-DTWO", f"-I{tmp_path}")
    with pytest.raises(HeapfitError, match=r"--cflags too: -DX: no plug-in too .*two"):
        plugins_of(paths, 32, ["too: -DX"])
    with pytest.raises(HeapfitError, match="--cflags -D': No closing quotation"):
        plugins_of(paths, 32, ["-D'"])


def test_without_building_only_what_comes_compiled_is_taken(tmp_path: Path) -> None:
    ready, hidden = tmp_path / "ready.a", tmp_path / "hidden"
    hidden.mkdir()
    for path in (ready, hidden / "ready.o", hidden / "more.c"):
        path.touch()

    def told(*paths: Path) -> str:
        given = [word for path in paths for word in ("--plugin", path)]
        words = ("compare", ECHO, "tlsf", *given, "--no-build")
        return run_heapfit(*words, folder=tmp_path, environment=os.environ).stderr

    assert "--no-build: hidden would be built" in told(ready, hidden)
    assert "--no-build" not in told(ready)


# Names of mattconte/tlsf around core's TLSF; like the original, it writes to its region unasked.
PAGE_TLSF = """
#include "hfit/tlsf.h"
#include <string.h>
static const hfit_tlsf_plan PLAN = {{4}, 0, 2};
static inline size_t tlsf_align_size(void) { return 4; }
static inline size_t tlsf_size(void) { return 1024; }
static inline void *tlsf_create_with_pool(void *at, size_t size) {
    memset(at, 0xff, tlsf_size());
    return hfit_tlsf_init(at, size, &PLAN.common);
}
static inline void *tlsf_malloc(void *it, size_t n) {
    return hfit_tlsf_alloc(it, &PLAN.common, n);
}
static inline void *tlsf_memalign(void *it, size_t alignment, size_t n) {
    return hfit_tlsf_alloc_aligned(it, &PLAN.common, alignment, n);
}
static inline void *tlsf_realloc(void *it, void *block, size_t n) {
    return hfit_tlsf_resize(it, &PLAN.common, block, n);
}
static inline void tlsf_free(void *it, void *block) { hfit_tlsf_free(it, &PLAN.common, block); }
"""


def test_the_adapter_of_the_page_works_as_printed(tmp_path: Path) -> None:
    page = (ROOT / "docs/plugins.md").read_text()
    adapter = re.search(r"```c\n(#include .*?)```", page, re.DOTALL)
    assert adapter is not None
    (tmp_path / "adapter.c").write_text(adapter[1])
    (tmp_path / "tlsf.h").write_text(PAGE_TLSF)
    shipped = own("tlsf")
    sources = (tmp_path / "adapter.c", shipped.sources[1])
    plugin = Plugin("tlsf", sources, 32, (*shipped.cflags, f"-I{tmp_path}"))

    row = measure(build(plugin, tmp_path / "built"), ECHO, 4)

    assert row.faults == () and row.r_safe is not None


def test_an_adapter_without_free_is_told_which_function_it_lacks(tmp_path: Path) -> None:
    (tmp_path / "half.c").write_text(
        "void *plugin_init(void *r) { return r; }\nvoid *plugin_alloc(void *h) { return h; }\n"
    )
    built = build(plugin_of(tmp_path / "half.c"), tmp_path / "built")
    with pytest.raises(HeapfitError, match="has no plugin_free or plugin_free_sized"):
        measure(built, ECHO)


def test_compare_tells_of_plug_ins_beside_ours_and_ends_with_3_after_faults(
    tmp_path: Path,
) -> None:
    words = ["compare", ECHO, "tlsf", "--plugin", PLUGINS / "faulty.c", "--cflags"]
    sound = run_heapfit(*words, "-DFAULT=NONE", "--json", folder=tmp_path, environment=os.environ)
    faulty = run_heapfit(*words, "-DFAULT=CRASH", folder=tmp_path, environment=os.environ)

    (row,) = json.loads(sound.stdout)["plugins"]
    assert (sound.returncode, row["name"], row["faults"]) == (0, "faulty", [])
    assert row["r_safe"] > json.loads(sound.stdout)["u_max"]
    assert faulty.returncode == 3
    assert "faulty: crash: event" in faulty.stdout


def test_a_plug_in_that_takes_no_region_is_told_so(tmp_path: Path) -> None:
    words = ["compare", ECHO, "tlsf", "--plugin", ROOT / "examples/plugins/bump.c"]
    done = run_heapfit(*words, "--alignment", "16", folder=tmp_path, environment=os.environ)

    assert done.returncode == 0
    assert "bump: serves the trace in no region" in done.stdout


def test_a_crate_that_is_built_by_cargo_is_measured(tmp_path: Path) -> None:
    crate = plugin_of(ROOT / "bench/crates/linked_list_allocator", bits=64)
    built = build(crate, tmp_path)

    row = measure(built, ECHO, 4)

    assert row.faults == ()
    assert row.is_sized and row.loads is None
    assert row.statics_bytes == 48
    assert 1.08 < (row.over_u_max or 0) < 1.09
