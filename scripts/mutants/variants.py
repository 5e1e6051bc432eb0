# SPDX-License-Identifier: Apache-2.0
"""Many mutants in one program: each is a copy of its function, chosen when the program starts.

    static bool hfit_mutant_17(int a) { return a <= 2; }      the function with fault 17
    static bool f(int a) {
        if (hfit_mutant >= 17 && hfit_mutant <= 18) { switch ... return hfit_mutant_17(a); ... }
        return a < 2;                                 as it stands
    }

HFIT_MUTANT=17 in the environment chooses the fault; HFIT_REACHED names a file in which the bytes
of all mutants become 1 whose functions are called.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping

import tree_sitter
from tree_sitter import Node

from mutants.faults import C, functions, text_of
from mutants.mutant import Mutant, mutated

MOST = 65_536  # mutants of one program: bytes of the file of those whose functions were called
_SPECIFIERS = re.compile(
    r"\b(static|inline|extern|FORCE_INLINE|INLINE_FOR_SPEED|CALL_FOR_SIZE|HFIT_\w*INLINE|HFIT_FLATTEN)\b"
)
_HEAD = f"""\
#ifndef HFIT_MUTANT_CHOSEN
#define HFIT_MUTANT_CHOSEN
char *getenv(const char *);
int atoi(const char *);
int open(const char *, int, ...);
void *mmap(void *, unsigned long, int, int, int, long);
__attribute__((weak)) int hfit_mutant;
__attribute__((weak)) unsigned char *hfit_reached;
__attribute__((weak, constructor(101))) void hfit_choose_mutant(void) {{
    const char *chosen = getenv("HFIT_MUTANT"), *file = getenv("HFIT_REACHED");
    hfit_mutant = chosen ? atoi(chosen) : 0;
    if (file && !hfit_reached) {{
        hfit_reached = (unsigned char *)mmap((void *)0, {MOST}, 3, 1, open(file, 2), 0);
    }}
}}
#endif
"""


def with_variants(file: str, source: bytes, numbered: Mapping[int, Mutant]) -> bytes:
    """A file of C with mutants of it, each under its number, which count from 1."""
    tree = tree_sitter.Parser(tree_sitter.Language(C.language)).parse(source)
    inside: dict[int, list[int]] = defaultdict(list)
    nodes = [node for node, _ in functions(tree.root_node, ())]
    for number, mutant in numbered.items():
        at = next(node for node in nodes if node.start_byte <= mutant.start < node.end_byte)
        inside[nodes.index(at)].append(number)
    for index in sorted(inside, reverse=True):
        source = _with_variants_of(
            file, source, nodes[index], {n: numbered[n] for n in inside[index]}
        )
    return _HEAD.encode() + f'#line 1 "{file}"\n'.encode() + source


def _with_variants_of(
    file: str, source: bytes, function: Node, numbered: Mapping[int, Mutant]
) -> bytes:
    """The source with the copies of one function before it, and the choice at its start."""
    name, parameters = _name(function), _parameters(function)
    body = function.child_by_field_name("body")
    assert body is not None
    start = source.rfind(b"\n", 0, function.start_byte) + 1
    line = source.count(b"\n", 0, start) + 1
    head = source[start : name.start_byte].decode()
    bare = _SPECIFIERS.sub("", head)
    copies, cases = [], []
    for number, mutant in numbered.items():
        rest = mutated(source[: function.end_byte], mutant)[name.end_byte :].decode()
        copies.append(
            f'#line {line} "mutant-{number}"\n__attribute__((noinline, unused)) static '
            f"{bare}hfit_mutant_{number}{rest}\n"
        )
        cases.append(f"case {number}: return hfit_mutant_{number}({parameters});")
    first, last = min(numbered), max(numbered)
    choice = (
        f"if (hfit_reached) __builtin_memset(hfit_reached + {first}, 1, {last - first + 1}); "
        f"if (hfit_mutant >= {first} && "
        f"hfit_mutant <= {last}) switch (hfit_mutant) {{ {' '.join(cases)} default: break; }}"
    )
    opening = body.start_byte + 1
    place = f'#line {line} "{file}"\n'
    text = "".join(copies) + place + source[start:opening].decode() + choice
    return source[:start] + text.encode() + source[opening:]


def _declarator(function: Node) -> Node:
    node = function.child_by_field_name("declarator")
    while node is not None and node.type != "function_declarator":
        node = node.child_by_field_name("declarator")
    assert node is not None
    return node


def _name(function: Node) -> Node:
    name = _declarator(function).child_by_field_name("declarator")
    assert name is not None
    return name


def _parameters(function: Node) -> str:
    """The names of a function's parameters."""
    found = []
    given = _declarator(function).child_by_field_name("parameters")
    for node in given.named_children if given else ():
        inner = node.child_by_field_name("declarator")
        while inner is not None and inner.type != "identifier":
            inner = inner.child_by_field_name("declarator")
        if inner is not None:
            found.append(text_of(inner))
    return ", ".join(found)


def refused(told: str) -> set[int]:
    """The numbers of the mutants of which a compiler says that they are wrong."""
    return {int(number) for number in re.findall(r"^mutant-(\d+):\d+(?::\d+)?: error", told, re.M)}


def numbered(mutants: Iterable[Mutant]) -> dict[int, Mutant]:
    """Those of one function beside one another, from 1 on."""
    return dict(enumerate(sorted(mutants, key=lambda one: (one.file, one.start, one.key)), 1))
