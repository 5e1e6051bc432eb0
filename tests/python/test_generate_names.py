# SPDX-License-Identifier: Apache-2.0
"""No name of a plan or a trace becomes code: 200 hostile ones change no token."""

import random
import re
import subprocess
import tomllib
from pathlib import Path

import pytest
from generated_code import PLANS, STRICT, plan_file

from heapfit.errors import HeapfitError
from heapfit.generate import generate
from heapfit.generate.names import Text, make_identifier, parse_prefix, printable
from heapfit.generate.platforms import templates_of
from heapfit.generate.tables import HeapDesign, design_from_plan_file
from heapfit.generate.texts import _environment, added_texts, heap_texts, readme_text
from heapfit.plan.targets import Language

pytestmark = pytest.mark.usefixtures("unmeasured")

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


def design_named(name: str) -> HeapDesign:
    return design_from_plan_file(plan_file(PLANS["budgeted"], name=name, trace=name), Text("app"))


def heap_code(name: str) -> str:
    return "".join(heap_texts(design_named(name)).values())


def tokens(text: str, name: str) -> list[str]:
    """What C sees once comments are gone; the plan's own identifier is made the same for all."""
    strip = ["gcc", "-std=c11", "-fpreprocessed", "-dD", "-E", "-P", "-xc", "-"]
    code = subprocess.run(strip, input=text, capture_output=True, text=True, check=True).stdout
    return code.replace(make_identifier(Text("app_plan"), name), "app_plan_NAME").split()


def test_hostile_names_change_no_token() -> None:
    names = hostile_names()
    assert len(names) >= 200
    plain = heap_code("plain")
    expected = tokens(plain, "plain")
    assert len(expected) > 500
    for name in names:
        code = heap_code(name)
        assert tokens(code, name) == expected, ascii(name)
        assert len(code.splitlines()) == len(plain.splitlines()), ascii(name)


def texts_named(name: str, language: Language) -> dict[str, str]:
    design = design_named(name)
    return added_texts(design, templates_of(design, language))


@pytest.mark.parametrize("language", [Language.CXX, Language.RUST])
def test_hostile_names_change_nothing_in_another_language_but_a_string(language: Language) -> None:
    plain = texts_named("plain", language)
    for name in hostile_names():
        made = texts_named(name, language)
        shown = printable(name)
        for file, text in plain.items():
            assert made[file] == text.replace("plan plain", f"plan {shown}").replace(
                '"plain"', f'"{shown}"'
            ), (file, ascii(name))
        if language is Language.RUST:
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
        cell = f"`{printable(name)}`"
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
        assert re.fullmatch(r"[ -~]{1,80}", printable(name))
        assert not set(printable(name)) & set("/\\?*`<>|&$\"'#{}")
    assert printable("lwIP echo, run 2 (32 bit)") == "lwIP echo, run 2 (32 bit)"


def test_a_template_takes_no_text_that_was_not_checked() -> None:
    template = _environment().from_string("{{ name }}")
    assert template.render(name=Text("checked")) == "checked"
    with pytest.raises(TypeError, match="was given str"):
        template.render(name="unchecked")


def test_a_prefix_becomes_a_name_as_it_is() -> None:
    assert parse_prefix("net_2") == "net_2"
    with pytest.raises(HeapfitError, match="must be at most 32"):
        parse_prefix("app\n")
