# SPDX-License-Identifier: Apache-2.0
"""A result's parts: the table and the JSON are made from the same fields."""

import json
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from page_reader import Page

from heapfit import cli
from heapfit.cli.printing.console import print_result, print_table
from heapfit.drawing import parts
from heapfit.drawing.document import Document
from heapfit.drawing.html import render
from heapfit.drawing.number_text import size
from heapfit.drawing.parts import (
    Bullets,
    Cell,
    Column,
    Copyable,
    Details,
    Fields,
    Group,
    Line,
    Note,
    Section,
    Table,
)
from heapfit.drawing.text import wrap_text

CLI = Path(cli.__file__).parent


@dataclass(frozen=True)
class Pool:
    size: int
    peak: int | None


@dataclass(frozen=True)
class Named:
    name: str
    pool: Pool


POOLS = [Pool(16, 2), Pool(1024, None)]
SIZE: Column[Pool] = Column("size", "bytes")
PEAK: Column[Pool] = Column("most", "most live", lambda pool: pool.peak)


def printed(capsys, *some: parts.Part, as_json: bool = False):
    print_result(some, as_json)
    streams = capsys.readouterr()
    return json.loads(streams.out) if as_json else streams


def test_a_column_is_a_heading_in_the_table_and_a_field_in_the_json(capsys):
    table = Table([SIZE, PEAK], POOLS, "pools")
    assert printed(capsys, table).out == "bytes  most live\n   16          2\n1,024          -\n"
    rows = [{"size": 16, "most": 2}, {"size": 1024, "most": None}]
    assert printed(capsys, table, as_json=True) == {"schema": 1, "pools": rows}


def test_a_column_without_a_heading_or_a_field_is_only_in_the_other(capsys):
    double: Column[Pool] = Column(heading="twice", shown=lambda pool: 2 * pool.size)
    table = Table([SIZE.with_heading(""), double], POOLS, "pools")
    assert printed(capsys, table).out.split() == ["twice", "32", "2,048"]
    assert printed(capsys, table, as_json=True)["pools"] == [{"size": 16}, {"size": 1024}]


def test_a_table_without_a_field_is_no_json_and_without_headings_no_table(capsys):
    assert printed(capsys, Table([SIZE], POOLS), as_json=True) == {"schema": 1}
    assert printed(capsys, Table([SIZE.with_heading("")], POOLS, "pools")).out == ""


def test_lines_are_text_and_notes_stand_beside_it(capsys):
    some = (Line("a result"), Note("a remark"), Fields({"u_max": 24}))
    assert printed(capsys, *some) == ("a result\n", "a remark\n")
    assert printed(capsys, *some, as_json=True) == {"schema": 1, "u_max": 24}


def test_a_group_is_an_object_of_its_own_and_plain_text(capsys):
    group = Group("classes", [Fields({"sizes": 3}), Line("3 sizes")])
    assert printed(capsys, group).out == "3 sizes\n"
    assert printed(capsys, group, as_json=True)["classes"] == {"sizes": 3}


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        (Named("a", POOLS[1]), {"name": "a", "pool": {"size": 1024, "peak": None}}),
        ((Path("out/plan.toml"),), ["out/plan.toml"]),
        (np.array([1, 2], np.uint64), [1, 2]),
        (np.uint64(7), 7),
    ],
)
def test_records_paths_and_arrays_have_a_form_in_the_json(capsys, value, plain):
    assert printed(capsys, Fields({"value": value}), as_json=True)["value"] == plain


def test_what_has_no_form_in_the_json_is_refused(capsys):
    with pytest.raises(TypeError, match="object has no form in JSON"):
        printed(capsys, Fields({"value": object()}), as_json=True)


def test_no_command_makes_a_table_of_its_own():
    own = {
        file.stem
        for file in CLI.glob("*.py")
        if re.search(r"console\.print_(json|table)", file.read_text())
    }
    assert own == set()


def test_a_number_and_its_unit_stay_in_one_line():
    for unit in ("%", "B", "KiB", "bit"):
        first, second = wrap_text(f"{'x' * 77} 5 {unit} less")
        assert (first, second) == ("x" * 77, f"5 {unit} less")
    assert wrap_text(f"{'x' * 77} 5 bystanders")[0].endswith(" 5")


def test_names_too_wide_for_a_panel_are_broken_there(capsys):
    name = "budgeted_16_frequent_exact:shared=tailored:layout=1"
    print_table(["name", "memory", "beaten by"], [[name, 5, name], ["tlsf", 6, "best_fit"]])
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    assert [line for line in lines if line.startswith("tlsf")][-1].split()[-1] == "best_fit"


def test_a_page_has_the_same_table_under_its_own_headings_and_names_stay_text():
    table = Table(
        [
            Column("size", "bytes", page="of a block", told=size),
            Column(heading="here alone", page="", shown=lambda pool: pool.size),
            PEAK,
            Column(page="beside", shown=lambda _: Cell("<b>", ("below",), "mark")),
        ],
        POOLS,
        caption="with `code` and --all",
        lead=POOLS[1],
    )
    parts = [Group("", [table]), Bullets(["<i>", ("one", "two")]), Copyable("lines", ["a", "b"])]
    folded = Section("rest", "Rest", [Details("more", [Line("of <it>")])], "", is_folded=True)
    text = render(Document("fit", "a<b", ["set it"], [Section("told", "Told", parts), folded]))
    page = Page(text)
    rows = [[" ".join(cell.split()) for cell in row] for row in page.rows]
    assert rows == [
        ["of a block", "most live", "beside"],
        ["16 B", "2", "<b> markbelow"],
        ["1,024 B", "–", "<b> markbelow"],
    ]
    assert text.count('<tr class="winner">') == 1
    assert text.index('<tr class="winner">') < text.index("1,024")
    assert page.attributes("href") == ["#told"]
    assert '<span class="whole">--all</span>' in text
    assert "a<b set it Told Told with code and --all" in page.text
    assert page.text.count("more of <it>") == 1
    for words in ("<i> one : two", "copy a b", "Rest more"):
        assert words in page.text
