# SPDX-License-Identifier: Apache-2.0
"""Options: which of them help shows, one meaning for a name, sizes and percents read alike."""

import pytest
from small_traces import heapfit

import list_options
from heapfit.cli.main import all_commands, options_of
from heapfit.cli.parser import Option, read_command, split_words
from heapfit.errors import HeapfitError
from heapfit.plan.plan_file import load_plan
from heapfit.plan.quantities import parse_percent, parse_share, parse_size, parse_sizes
from list_options import count_entries, list_ambiguous, list_meanings

NAMES = list(all_commands())
PLAN = 'region = 8192\n[plan]\nallocator = "tlsf"\nalignment = 8\n'


def test_no_name_of_an_option_has_two_meanings():
    assert list_ambiguous() == []
    assert len(list_meanings()) <= 90
    assert len(NAMES) < count_entries() <= 204


def test_a_second_meaning_is_noticed(monkeypatch):
    words, number = (
        Option("--seed", text) for text in ("Seed of the random numbers.", "Seeds of a cucumber.")
    )
    fit = all_commands()["fit"]
    monkeypatch.setattr(list_options, "options_of", lambda one: [words if one is fit else number])
    assert list_ambiguous() == ["--seed"]


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("65536", 65536),
        ("64K", 65536),
        ("64k", 65536),
        ("64KiB", 65536),
        ("64 KiB", 65536),
        ("65536B", 65536),
        ("1M", 1 << 20),
        ("1MiB", 1 << 20),
        ("2G", 2 << 30),
    ],
)
def test_a_size_has_many_forms(text, size):
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "K", "64KB", "1.5K", "-1", "1e3", "64 K iB", "9" * 20, "²"])
def test_what_is_no_size_is_refused_in_one_line(text):
    with pytest.raises(HeapfitError, match="is not a size in bytes, such as 65536, 64K"):
        parse_size(text)


def test_sizes_have_commas_between():
    assert parse_sizes("64,1K,1520") == (64, 1024, 1520)
    with pytest.raises(HeapfitError, match="is not a size"):
        parse_sizes("64,,1520")


def test_percents_and_shares_take_the_sign_or_not():
    assert [parse_percent(text) for text in ("5", "5%", "5 %", "2.25%")] == [5, 5, 5, 2.25]
    assert [parse_share(text) for text in ("0.999", "99.9%", "1", ".5", "1e-3")] == [
        *(0.999, 0.999, 1, 0.5, 0.001)
    ]
    for text in ("five", "-5%", "%", "1e3", ""):
        with pytest.raises(HeapfitError, match="is not a percentage"):
            parse_percent(text)
        with pytest.raises(HeapfitError, match="is not a share"):
            parse_share(text)


@pytest.mark.parametrize("region", ["6144", "6K", "6KiB"])
def test_an_option_takes_every_form(region, tmp_path):
    (tmp_path / "plan.toml").write_text(PLAN)
    done = heapfit("generate", "plan.toml", "--region", region, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert load_plan(tmp_path / "code/plan.toml").region == 6144


def test_a_value_may_begin_with_a_dash_and_the_last_of_several_counts():
    declared = all_commands()["compare"]
    words = ["--cflags", "-O2", "a", "--cflags=-g", "--seed", "1", "b", "--seed=2", "--", "--json"]
    typed, left = split_words("compare", words, options_of(declared))
    command = read_command(declared, options_of(declared), typed, left)
    assert (command.cflags, command.seed, command.as_json) == (["-O2", "-g"], 2, False)
    assert command.words == ["a", "b", "--json"]
