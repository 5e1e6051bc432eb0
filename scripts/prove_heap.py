# SPDX-License-Identifier: Apache-2.0
"""Proves what core's good_fit does, by induction over all states of regions up to a size.

    prove_heap.py small|full         each alignment, level and width of pointers; full: minutes
    prove_heap.py --mutants [N]      N drawn small faults of the proven text (mutants/faults.py), or
                                     all, each in the small form: those that are proven all the same

proofs/good_fit.c states what is shown, and shows it by making every state and every call.
"""

import random
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from mutants.faults import mutants_of
from mutants.mutant import Mutant, mutated

ROOT = Path(__file__).resolve().parents[1]
INCLUDES = [ROOT / "core", ROOT / "core/include"]
FILES = tuple(
    f"core/src/tiling/{name}"
    for name in (
        "good_fit.c", "good_fit_words.h", "good_fit_index.h", "good_fit_check.h", "free_list.h",
        "coded.h",
    )
)  # fmt: skip
# Of these files what no call of the proof reaches, or heap_check alone, which it does not need; and
# links that it does not damage.
UNPROVEN = frozenset({
    "heap_walk", "heap_footprint", "heap_usable_size", "heap_check", "are_chunks_sound",
    "index_check", "count_bin", "reach_of", "holes_of", "heap_free_sized", "is_walked_by",
    "heap_alloc_usable", "list_push", "list_unlink", "list_remove", "list_pop",
    "do_links_hold", "does_link_hold", "load_linked",
})  # fmt: skip
BYTES = {"small": {8: 212, 4: 180, 16: 244}, "full": {8: 236, 4: 196, 16: 276}}
SEED = 15
SECONDS = 60  # of a mutant that does not end


def settings() -> Iterator[tuple[str, ...]]:
    """The compiler's options of each build of core that is proven: the default one first."""
    for level in ("-DHFIT_SAFETY=1", "-DHFIT_CHECKS_WORDS=1", "-DHFIT_SAFETY=0"):
        for bits in ("-m64", "-m32"):
            yield level, bits


def compiled(includes: list[Path], options: tuple[str, ...], *end: str) -> bytes:
    """Of gcc: the program in a file, or what else `end` asks for."""
    flags = [f"-I{path}" for path in includes]
    command = [
        "gcc",
        "-std=c11",
        "-O2",
        "-w",
        "-Werror=int-conversion",
        *options,
        *flags,
        str(ROOT / "proofs/good_fit.c"),
    ]
    return subprocess.run([*command, *end], capture_output=True, check=True).stdout


def told(includes: list[Path], options: tuple[str, ...], form: str) -> Iterator[tuple[str, bool]]:
    """Of each alignment what was tried, or what does not hold; and whether all did."""
    with tempfile.TemporaryDirectory() as scratch:
        program = Path(scratch) / "good_fit"
        compiled(includes, options, "-o", str(program))
        for alignment, most in BYTES[form].items():
            run = subprocess.run(
                [program, str(alignment), str(most)],
                capture_output=True, text=True, check=False,
                timeout=SECONDS if form == "small" else None,
            )  # fmt: skip
            holds = run.returncode == 0
            where = f"{' '.join(options)}, alignment {alignment}, regions to {most} bytes"
            yield f"{where}: {run.stdout.strip() if holds else run.stderr.strip()}", holds


def prove_form(form: str) -> bool:
    """Prints a line for each build and alignment; whether all hold."""
    is_proven = True
    for options in settings():
        for line, holds in told(INCLUDES, options, form):
            print(line, flush=True)
            is_proven &= holds
    return is_proven


def mutants() -> list[Mutant]:
    """Every small fault of the proven functions."""
    found = [one for file in FILES for one in mutants_of(file, (ROOT / file).read_bytes())]
    return [one for one in found if one.function not in UNPROVEN]


@cache
def sound_code(options: tuple[str, ...]) -> bytes:
    """What gcc makes of the text as it stands."""
    return compiled(INCLUDES, options, "-S", "-o", "-")


def of_build(includes: list[Path], options: tuple[str, ...]) -> str:
    """The verdict of one build of a mutant."""
    try:
        if compiled(includes, options, "-S", "-o", "-") == sound_code(options):
            return "same code"
        return "proven" if all(holds for _, holds in told(includes, options, "small")) else "fails"
    except subprocess.TimeoutExpired:
        return "fails"
    except subprocess.CalledProcessError:
        return "not compiled"


def verdict(mutant: Mutant) -> str:
    """Whether a build of a mutant is refuted; one that is compiled to the same code is none."""
    with tempfile.TemporaryDirectory() as scratch:
        copy = Path(scratch) / Path(mutant.file).relative_to("core")
        copy.parent.mkdir(parents=True)
        copy.write_bytes(mutated((ROOT / mutant.file).read_bytes(), mutant))
        found = set()
        for options in settings():
            now = of_build([Path(scratch), *INCLUDES], options)
            if now in {"fails", "not compiled"}:
                return now
            found.add(now)
    return "proven" if "proven" in found else "same code"


def try_mutants(drawn: list[Mutant]) -> bool:
    """Tells each that is proven all the same; whether at least 80 % are not."""
    counts: Counter[str] = Counter()
    for one in drawn:
        now = verdict(one)
        counts[now] += 1
        if now == "proven":
            where = f"{one.file}:{one.line} {one.function}"
            print(f"{now}: {where}: {one.was!r} becomes {one.becomes!r}", flush=True)
    print(", ".join(f"{count} {verdict}" for verdict, count in sorted(counts.items())))
    return counts["fails"] >= 4 * counts["proven"]


def main() -> None:
    """Exit code 1 if a state refutes what is stated, or too many mutants are proven."""
    if sys.argv[1:2] == ["--mutants"]:
        drawn = mutants()
        if len(sys.argv) > 2:
            drawn = random.Random(SEED).sample(drawn, int(sys.argv[2]))
        sys.exit(not try_mutants(drawn))
    sys.exit(not prove_form(sys.argv[1] if len(sys.argv) > 1 else "small"))


if __name__ == "__main__":
    main()
