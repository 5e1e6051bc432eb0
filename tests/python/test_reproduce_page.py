# SPDX-License-Identifier: Apache-2.0
"""The page of the papers reproduced."""

import json
import os

from page_reader import Page

from heapfit.drawing.html import render
from heapfit_papers.pages.reproduce_page import reproduce_page
from heapfit_papers.reproduce.rows import reproduce
from program import run_heapfit


def test_the_page_shows_every_figure_of_its_rows_and_opens_alone(laboratory):
    results = reproduce(["000-2", "001-3", "001-15", "003-6", "003-14"], laboratory)
    page = Page(render(reproduce_page(results, laboratory)))
    assert set(page.figures) == {"chart-000-1", "chart-001-3", "chart-003-3", "chart-003-5"}
    text = page.text.replace("\N{NO-BREAK SPACE}", " ")
    for result in results:
        for one in result.findings:
            assert one.figure.says in text
            assert one.ours in text
    assert all(reference.startswith("#") for reference in page.attributes("href"))
    assert page.attributes("src") == []


def test_a_paper_of_many_figures_is_folded_behind_how_they_stand(laboratory):
    few = render(reproduce_page(reproduce(["000-2", "001-3"], laboratory), laboratory))
    assert few.count("<details open>") == 3  # 000 has a figure and a table, 001 a table
    many = [f"000-{row}" for row in range(1, 7)]
    page = render(reproduce_page(reproduce(many, laboratory), laboratory))
    assert "<details open>" not in page
    assert "6 rows, what is published and what is found" in page


def test_the_command_writes_the_page_and_tells_where(tmp_path):
    page = tmp_path / "papers.html"
    words = ["reproduce", "000-2", "--small", "--json", "--report", str(page)]
    done = run_heapfit(*words, folder=tmp_path, environment=os.environ)
    assert done.returncode == 0
    assert json.loads(done.stdout)["report"] == str(page)
    assert set(Page(page.read_text()).figures) == {"chart-000-1"}
