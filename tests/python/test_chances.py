# SPDX-License-Identifier: Apache-2.0
"""Printed chances and intervals hold as often as they say: a small form of bench/chances.py."""

import pytest
from chances import STATEMENTS, Statement, judge_statement

TRIALS = 60
ERRORS = 3  # standard ones, as a dozen of statements are judged at once
QUICK = {(one.name, one.commands): one for one in STATEMENTS[::-1] if not one.is_slow}


@pytest.mark.parametrize("one", QUICK.values(), ids=lambda one: one.name)
def test_a_statement_holds_as_often_as_it_says(one: Statement) -> None:
    found = judge_statement(one, TRIALS)
    assert found.is_kept(ERRORS), f"{found.share:.1f} % of {found.made}"
