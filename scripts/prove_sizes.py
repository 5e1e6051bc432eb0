# SPDX-License-Identifier: Apache-2.0
"""Proves core's size arithmetic for all sizes and alignments: of the code that clang makes of it.

    prove_sizes.py              round_sum, round_size and rounded_up, for 64- and 32-bit size_t
    prove_sizes.py --mutants    every small fault of their text (mutants/faults.py): none is proven

What is shown is the whole of what they do: where the least multiple of the alignment that is not
below the sum is at most HFIT_LARGEST_BLOCK, it is what they store; else they return false. The
arguments are bit-vectors of their widths, the alignment any power of two up to 2^31; z3 and cvc4
both have to find that there is no counterexample.
"""

import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from mutants.faults import mutants_of
from mutants.mutant import Mutant, mutated

ROOT = Path(__file__).resolve().parents[1]
CORE = ROOT / "core"
SIZE, LAYOUT = "core/src/size.h", "core/src/pools/layout.h"
PROVEN = {"round_sum": SIZE, "round_size": SIZE, "rounded_up": LAYOUT}
BITS = {64: "-m64", 32: "-m32"}
WIDE = 40  # bits in which no sum of a claim wraps, of sizes that are not too large by themselves
SOLVERS = (["z3", "-in"], ["cvc4", "--lang=smt2"])
SOURCE = """
#include "src/size.h"
#include "src/pools/layout.h"
#define OF(function, name)                                                     \\
    uint64_t name(size_t size, uint32_t extra, uint32_t alignment);            \\
    uint64_t name(size_t size, uint32_t extra, uint32_t alignment) {           \\
        uint32_t rounded = 0;                                                  \\
        return function(size, extra, alignment, &rounded) ? rounded : ~0ull;   \\
    }
OF(round_sum, of_round_sum)
OF(round_size, of_round_size)
uint64_t of_rounded_up(size_t size, uint32_t extra, uint32_t alignment);
uint64_t of_rounded_up(size_t size, uint32_t extra, uint32_t alignment) {
    (void)extra;
    return rounded_up((uint32_t)size, alignment);
}
"""
CLAIM = """
(declare-const size (_ BitVec {bits}))
(declare-const extra (_ BitVec 32))
(declare-const log (_ BitVec 32))
(define-fun alignment () (_ BitVec 32) (bvshl #x00000001 log))
(assert (bvult log #x00000020))
(assert (bvule extra (bvsub #x80000000 alignment)))
(define-fun asked () (_ BitVec {bits}) {asked})
(define-fun wide_size () (_ BitVec {wide}) ((_ zero_extend {by_word}) ((_ extract 31 0) asked)))
(define-fun wide_extra () (_ BitVec {wide}) ((_ zero_extend {by_word}) {more}))
(define-fun wide_log () (_ BitVec {wide}) ((_ zero_extend {by_word}) log))
(define-fun below () (_ BitVec {wide}) ((_ zero_extend {by_word}) (bvsub alignment #x00000001)))
(define-fun least () (_ BitVec {wide})
  (bvshl (bvlshr (bvadd wide_size wide_extra below) wide_log) wide_log))
(define-fun fits () Bool
  (and (bvule asked (_ bv2147483647 {bits})) (bvule least (_ bv2147483647 {wide}))))
(define-fun told () (_ BitVec 64) ((_ zero_extend 24) least))
{code}
(assert (not {claim}))
(check-sat)
"""
STORED = "(= result (ite fits told (bvnot (_ bv0 64))))"
OF_ACCEPTED = "(=> fits (= result told))"  # rounded_up checks nothing itself
COMPARISONS = {"eq": "=", "ugt": "bvugt", "uge": "bvuge", "ult": "bvult", "ule": "bvule",
               "sgt": "bvsgt", "sge": "bvsge", "slt": "bvslt", "sle": "bvsle"}  # fmt: skip
SUMS = {"add": "bvadd", "sub": "bvsub", "mul": "bvmul", "and": "bvand", "or": "bvor",
        "xor": "bvxor", "shl": "bvshl", "lshr": "bvlshr", "ashr": "bvashr"}  # fmt: skip
OF_BOOLS = {"and": "and", "or": "or", "xor": "xor"}
_FUNCTION = re.compile(r"^define .*? @of_(\w+)\(.*?\{\n(.*?)^\}", re.MULTILINE | re.DOTALL)


class UnreadError(Exception):
    """An instruction that the translation does not know."""


def functions_of(includes: list[Path], bits: int) -> dict[str, str]:
    """The bodies of the three functions, as clang's intermediate code."""
    flags = [f"-I{path}" for path in includes]
    command = ["clang", BITS[bits], "-std=c11", "-O1", "-S", "-emit-llvm", "-xc", *flags,
               "-o", "-", "-"]  # fmt: skip
    told = subprocess.run(command, input=SOURCE, capture_output=True, text=True, check=True)
    return {match[1]: match[2] for match in _FUNCTION.finditer(told.stdout)}


def value(text: str, kind: str) -> str:
    """An operand in SMT-LIB; arguments 0, 1, 2 are the size, what is added and the alignment."""
    if text in {"true", "false"}:
        return text
    if text.startswith("%"):
        names = {"%0": "size", "%1": "extra", "%2": "alignment"}
        return names.get(text, f"v{text[1:]}")
    bits = int(kind[1:])
    return f"(_ bv{int(text) % (1 << bits)} {bits})"


def sort_of(kind: str) -> str:
    """Of a type of clang's; a truth is i1."""
    return "Bool" if kind == "i1" else f"(_ BitVec {kind[1:]})"


def translated(body: str) -> Iterator[str]:
    """Definitions of each value and edge, and of `result`. Loops and memory are not read."""
    block, edges = "3", {"3": ["true"]}  # three arguments come before the first block
    for line in body.splitlines():
        text = line.partition(";")[0].strip().rstrip(",")
        if match := re.fullmatch(r"(\d+):", text):
            block = match[1]
        elif match := re.fullmatch(r"br label %(\d+)", text):
            yield edge(edges, block, match[1], "true")
        elif match := re.fullmatch(r"br i1 (\S+), label %(\d+), label %(\d+)", text):
            taken = value(match[1], "i1")
            yield edge(edges, block, match[2], taken)
            yield edge(edges, block, match[3], f"(not {taken})")
        elif match := re.fullmatch(r"ret (i\d+) (\S+)", text):
            yield f"(define-fun result () {sort_of(match[1])} {value(match[2], match[1])})"
        elif text:
            name, _, operation = text.partition(" = ")
            kind, formula = term(operation, block)
            yield f"(define-fun v{name[1:]} () {sort_of(kind)} {formula})"


def edge(edges: dict[str, list[str]], start: str, end: str, taken: str) -> str:
    """The definition of the truth that a run goes from one block to another."""
    name = f"e{start}_{end}"
    reached = " ".join(edges[start])
    edges.setdefault(end, []).append(name)
    return f"(define-fun {name} () Bool (and (or {reached}) {taken}))"


def term(operation: str, block: str) -> tuple[str, str]:
    """The type and the term of one instruction."""
    plain = re.sub(r"\b(?:nuw|nsw|exact|noundef) ", "", operation)
    if match := re.fullmatch(r"icmp (\w+) (i\d+) (\S+), (\S+)", plain):
        one, other = (value(match[i], match[2]) for i in (3, 4))
        if match[1] == "ne":
            return "i1", f"(not (= {one} {other}))"
        return "i1", f"({COMPARISONS[match[1]]} {one} {other})"
    if match := re.fullmatch(r"select i1 (\S+), (i\d+) (\S+), i\d+ (\S+)", plain):
        chosen = (value(match[1], "i1"), *(value(match[i], match[2]) for i in (3, 4)))
        return match[2], f"(ite {' '.join(chosen)})"
    if match := re.fullmatch(r"(zext|trunc) (i\d+) (\S+) to (i\d+)", plain):
        return match[4], converted(match)
    if match := re.fullmatch(r"phi (i\d+) (.*)", plain):
        return match[1], joined(match[1], match[2], block)
    match = re.fullmatch(r"(\w+) (i\d+) (\S+), (\S+)", plain)
    known = OF_BOOLS if match and match[2] == "i1" else SUMS
    if match is None or match[1] not in known:
        raise UnreadError(operation)
    return match[2], f"({known[match[1]]} {' '.join(value(match[i], match[2]) for i in (3, 4))})"


def converted(match: re.Match[str]) -> str:
    """A value of another width."""
    old, new = int(match[2][1:]), int(match[4][1:])
    one = value(match[3], match[2])
    if match[1] == "trunc":
        low = f"((_ extract {new - 1} 0) {one})"
        return f"(= {low} #b1)" if new == 1 else low
    if old == 1:
        return f"(ite {one} (_ bv1 {new}) (_ bv0 {new}))"
    return f"((_ zero_extend {new - old}) {one})"


def joined(kind: str, choices: str, block: str) -> str:
    """What a block gets from those before it: the last stands where no other was come from."""
    found = re.findall(r"\[ (\S+), %(\d+) \]", choices)
    formula = value(found[-1][0], kind)
    for one, start in found[:-1]:
        formula = f"(ite e{start}_{block} {value(one, kind)} {formula})"
    return formula


def question(name: str, body: str, bits: int) -> str:
    """Satisfiable if the function does otherwise for any arguments."""
    asked = "(ite (= size (_ bv0 {0})) (_ bv1 {0}) size)" if name == "round_size" else "size"
    is_up = name == "rounded_up"
    return CLAIM.format(
        bits=bits, wide=WIDE, by_word=WIDE - 32, asked=asked.format(bits),
        more="#x00000000" if is_up else "extra", code="\n".join(translated(body)),
        claim=OF_ACCEPTED if is_up else STORED,
    )  # fmt: skip


def answers(name: str, includes: list[Path], bits: int) -> set[str]:
    """What the solvers say: "unsat" where there is no counterexample."""
    text = question(name, functions_of(includes, bits)[name], bits)
    told = [
        subprocess.run(
            solver, input=f"(set-logic QF_BV)\n{text}", capture_output=True, text=True, check=True
        )
        for solver in SOLVERS
    ]
    return {one.stdout.strip() for one in told}


def claims() -> list[tuple[str, int]]:
    """Each function at each width."""
    return [(name, bits) for name in PROVEN for bits in BITS]


def proven_claims(share: int = 1) -> int:
    """How many of core's hold, of one in `share`."""
    includes = [CORE, CORE / "include"]
    return sum(answers(name, includes, bits) == {"unsat"} for name, bits in claims()[::share])


def mutants() -> list[Mutant]:
    """Every small fault of the functions' text."""
    files = dict.fromkeys(PROVEN.values())
    found = [one for file in files for one in mutants_of(file, (ROOT / file).read_bytes())]
    return [one for one in found if one.function in PROVEN]


def verdict(mutant: Mutant) -> str:
    """Whether a counterexample is found for a mutant, at either width."""
    with tempfile.TemporaryDirectory() as scratch:
        copy = Path(scratch) / Path(mutant.file).relative_to("core")
        copy.parent.mkdir(parents=True)
        copy.write_bytes(mutated((ROOT / mutant.file).read_bytes(), mutant))
        includes = [Path(scratch), CORE, CORE / "include"]
        try:
            told = set.union(*(answers(mutant.function, includes, bits) for bits in BITS))
        except UnreadError:
            return "not read"
        except subprocess.CalledProcessError:
            return "not compiled"
    return {frozenset({"unsat"}): "proven"}.get(frozenset(told), "fails")


def try_mutants() -> bool:
    """Tells each that has no counterexample; whether none is proven."""
    verdicts = {one: verdict(one) for one in mutants()}
    for one, told in verdicts.items():
        if told != "fails":
            where = f"{one.file}:{one.line} {one.function}"
            print(f"{told}: {where}: {one.was!r} becomes {one.becomes!r}")
    counts = Counter(verdicts.values())
    print(", ".join(f"{count} {told}" for told, count in sorted(counts.items())))
    return counts["proven"] == 0


def main() -> None:
    """Exit code 1 if a claim does not hold or a mutant does."""
    if sys.argv[1:2] == ["--mutants"]:
        sys.exit(not try_mutants())
    proven = proven_claims()
    print(f"{proven} of {len(claims())} claims proven")
    sys.exit(proven != len(claims()))


if __name__ == "__main__":
    main()
