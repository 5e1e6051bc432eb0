# SPDX-License-Identifier: Apache-2.0
"""Which faults are put into C, C++ and Python, found in the syntax trees that tree-sitter makes.

    comparison   < becomes <= and >=, == becomes !=, and so on
    arithmetic   + becomes -, * becomes /, << becomes >>; += likewise
    logic        & becomes |, && becomes ||, `and` becomes `or`
    constant     n becomes n + 1 and n - 1; true becomes false
    condition    of if, while, for and ?: negated, where it is no single comparison
    statement    a call or an assignment is left out
    return       what is returned becomes 0, {} or None
    arguments    two neighbours are swapped

Only bodies of functions are mutated; of them not: assertions, what is thrown or raised (its text is
no decision), strings, types and casts to void.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import tree_sitter
import tree_sitter_c
import tree_sitter_cpp
import tree_sitter_python
from tree_sitter import Node

from mutants.mutant import Mutant, key_of


@dataclass(frozen=True, slots=True)
class Grammar:
    """A language's tree, and how it writes what faults put into it."""

    language: object
    negated: str
    nothing: str
    empty: str  # what any function may return


@dataclass(frozen=True, slots=True)
class Fault:
    """Bytes from the file's start, what is put there, and the operator's name."""

    start: int
    end: int
    becomes: str
    operator: str


C = Grammar(tree_sitter_c.language(), "(!({}))", ";", "0")
CPP = Grammar(tree_sitter_cpp.language(), "(!({}))", ";", "{}")
PYTHON = Grammar(tree_sitter_python.language(), "(not ({}))", "pass", "None")
GRAMMARS = {".c": C, ".h": C, ".cpp": CPP, ".hpp": CPP, ".py": PYTHON}

SWAPS = {
    "comparison": {
        "<": ("<=", ">="), "<=": ("<", ">"), ">": (">=", "<="), ">=": (">", "<"),
        "==": ("!=",), "!=": ("==",),
        "is": ("is not",), "is not": ("is",), "in": ("not in",), "not in": ("in",),
    },
    "arithmetic": {
        "+": ("-",), "-": ("+",), "*": ("/",), "/": ("*",), "//": ("*",), "%": ("/",),
        "<<": (">>",), ">>": ("<<",), "+=": ("-=",), "-=": ("+=",), "*=": ("/=",),
        "/=": ("*=",), "<<=": (">>=",), ">>=": ("<<=",),
    },
    "logic": {
        "&": ("|",), "|": ("&",), "^": ("&",), "&=": ("|=",), "|=": ("&=",), "^=": ("&=",),
        "&&": ("||",), "||": ("&&",), "and": ("or",), "or": ("and",),
    },
}  # fmt: skip
OPERATIONS = {
    "binary_expression", "assignment_expression", "binary_operator", "comparison_operator",
    "boolean_operator", "augmented_assignment",
}  # fmt: skip
CONDITIONED = {
    "if_statement", "while_statement", "do_statement", "for_statement", "conditional_expression",
    "elif_clause", "if_clause",
}  # fmt: skip
NUMBERS = {"number_literal", "integer", "float"}
OPPOSITES = {"true": "false", "false": "true", "True": "False", "False": "True"}
EFFECTS = {
    "call_expression", "assignment_expression", "update_expression", "call", "augmented_assignment",
}  # fmt: skip
PLACES = {"attribute", "subscript"}  # to which Python assigns without making a name
PLAIN = {*NUMBERS, "true", "false", "null", "none", "nullptr"}
LEFT_ALONE = {
    "ERROR", "throw_statement", "raise_statement", "assert_statement", "string", "string_literal",
    "type", "type_descriptor", "decorator", "preproc_call", "preproc_def", "preproc_function_def",
    "template_argument_list", "parameter_list", "comment",
}  # fmt: skip
ASSERTIONS = ("HFIT_ASSERT", "_Static_assert", "static_assert", "strict=")  # zip's, too


def mutants_of(file: str, source: bytes) -> list[Mutant]:
    """All mutants of a file, in the order of its text."""
    grammar = GRAMMARS[file[file.rindex(".") :]]
    tree = tree_sitter.Parser(tree_sitter.Language(grammar.language)).parse(source)
    found = {}
    for function, name in functions(tree.root_node, ()):
        for fault in faults(function.child_by_field_name("body"), grammar):
            was = source[fault.start : fault.end].decode()
            line = source.count(b"\n", 0, fault.start) + 1
            place = fault.start - function.start_byte
            key = key_of(file, function.text or b"", place, was, fault.becomes)
            span = (line, fault.start, fault.end, was, fault.becomes, fault.operator)
            found[key] = Mutant(file, name, *span, key)
    return list(found.values())


def functions(node: Node, outer: tuple[str, ...]) -> Iterator[tuple[Node, str]]:
    """Outermost functions and methods with their names; what lies inside one belongs to it."""
    for child in node.named_children:
        if child.type == "function_definition" and child.child_by_field_name("body"):
            yield child, ".".join((*outer, name_of(child)))
            continue
        named = child.type in {"class_definition", "class_specifier", "struct_specifier"}
        inner = text_of(child.child_by_field_name("name")) if named else ""
        yield from functions(child, (*outer, inner) if inner else outer)


def name_of(function: Node) -> str:
    """As it is declared, without a namespace."""
    node = function
    while inner := node.child_by_field_name("declarator") or node.child_by_field_name("name"):
        node = inner
    # The declarator of a reference has no name for it.
    text = text_of(node).partition("(")[0].strip("&* ")
    return text.rpartition("::")[2]


def text_of(node: Node | None) -> str:
    """Of a node of a tree; nothing for none."""
    return (node.text or b"").decode() if node else ""


def faults(node: Node | None, grammar: Grammar) -> Iterator[Fault]:
    """Every fault inside a node of a function's body."""
    if node is None or node.type in LEFT_ALONE or text_of(node).startswith(ASSERTIONS):
        return
    for kind in (operations, constants, conditions, statements, returns, arguments):
        yield from kind(node, grammar)
    for child in node.named_children:
        yield from faults(child, grammar)


def instead_of(node: Node, becomes: str, operator: str) -> Fault:
    """A fault that replaces a whole node."""
    return Fault(node.start_byte, node.end_byte, becomes, operator)


def operations(node: Node, _: Grammar) -> Iterator[Fault]:
    """Of an operation: its operator, exchanged."""
    if node.type not in OPERATIONS:
        return
    for child in node.children:
        for kind, swaps in SWAPS.items():
            for becomes in swaps.get(child.type, ()):
                yield instead_of(child, becomes, kind)


def constants(node: Node, _: Grammar) -> Iterator[Fault]:
    """Of a number: one more and one less; of a truth value: the other."""
    text = text_of(node)
    if node.type in NUMBERS:
        yield instead_of(node, f"({text} + 1)", "constant")
        yield instead_of(node, f"({text} - 1)", "constant")
    elif node.type in {"true", "false"}:
        yield instead_of(node, OPPOSITES[text], "constant")


def conditions(node: Node, grammar: Grammar) -> Iterator[Fault]:
    """Of a branch or a loop: its condition negated, unless its comparison is."""
    condition = condition_of(node) if node.type in CONDITIONED else None
    if condition is None or condition.type == "declaration":
        return
    if not any(child.type in SWAPS["comparison"] for child in condition.children):
        yield instead_of(condition, grammar.negated.format(text_of(condition)), "condition")


def condition_of(node: Node) -> Node | None:
    """What decides, without the parentheses around it."""
    if node.type == "if_clause":
        return node.named_children[0]
    if node.type == "conditional_expression" and node.children[1].type == "if":
        return node.children[2]
    condition = node.child_by_field_name("condition")
    if condition and condition.type == "condition_clause":
        return condition.child_by_field_name("value")
    if condition and condition.type == "parenthesized_expression":
        return condition.named_children[0]
    return condition


def statements(node: Node, grammar: Grammar) -> Iterator[Fault]:
    """Of a statement with an effect: nothing in its place."""
    if node.type != "expression_statement" or not node.named_children:
        return
    expression = node.named_children[0]
    target = expression.child_by_field_name("left") if expression.type == "assignment" else None
    if expression.type in EFFECTS or (target and target.type in PLACES):
        yield instead_of(node, grammar.nothing, "statement")


def returns(node: Node, grammar: Grammar) -> Iterator[Fault]:
    """Of a return: an empty value."""
    if node.type != "return_statement" or not node.named_children:
        return
    value = node.named_children[0]
    if value.type not in PLAIN and text_of(value) != grammar.empty:
        yield instead_of(value, grammar.empty, "return")


def arguments(node: Node, _: Grammar) -> Iterator[Fault]:
    """Of a call: two neighbouring arguments, swapped."""
    if node.type != "argument_list":
        return
    no_places = {"keyword_argument", "list_splat", "dictionary_splat", "comment"}
    given = [child for child in node.named_children if child.type not in no_places]
    for one, other in pairwise(given):
        if text_of(one) != text_of(other):
            swapped = f"{text_of(other)}, {text_of(one)}"
            yield Fault(one.start_byte, other.end_byte, swapped, "arguments")
