# SPDX-License-Identifier: Apache-2.0
"""Options: which of them help shows, one meaning for a name, sizes and percents read alike."""

import re

import pytest
from small_traces import heapfit

import list_options
from heapfit.cli.main import all_commands, options_of
from heapfit.cli.parser import Option
from heapfit.errors import HeapfitError
from heapfit.plan.plan_file import load_plan
from heapfit.plan.quantities import parse_percent, parse_share, parse_size, parse_sizes
from list_options import count_options, list_entries
from program import call_heapfit

NAMES = list(all_commands())
PLAN = 'region = 8192\n[plan]\nallocator = "tlsf"\nalignment = 8\n'


def printed(*words: str) -> str:
    return call_heapfit(*words).stdout


def hidden(name: str) -> list[str]:
    return [one.name for one in options_of(all_commands()[name]) if one.group]


def listed(text: str, option: str) -> bool:
    return re.search(rf"^  {re.escape(option)}( |$)", text, re.MULTILINE) is not None


@pytest.mark.parametrize("name", NAMES)
def test_help_leaves_out_groups_and_says_how_many_options(name):
    usual, everything = (printed(*name.split(), word) for word in ("--help", "--help-all"))
    left_out = hidden(name)
    if not left_out:
        assert usual == everything
        return
    assert not any(listed(usual, option) for option in left_out)
    assert all(listed(everything, option) for option in left_out)
    more = "1 more option" if len(left_out) == 1 else f"{len(left_out)} more options"
    assert usual.splitlines()[-1] == f"--help-all shows {more}."
    assert "--help-all shows" not in everything


def test_help_all_has_a_title_for_each_group():
    titles = re.findall(r"^(\w[\w ]*):$", printed("check", "--help-all"), re.MULTILINE)
    assert titles == ["Arguments", "Options", "Search", "More output", "Importing", "Workers"]


def test_fit_shows_ten_options_and_groups_the_others():
    options = options_of(all_commands()["fit"])
    shown = {one.name for one in options if one.name and not one.group}
    ten = "output now peak margin prefer alignment all program json force"
    assert shown - {"--help", "--help-all"} == {f"--{name}" for name in ten.split()}
    assert len(NAMES) <= 21


def test_no_name_of_an_option_has_two_meanings():
    counts = count_options()
    assert counts.ambiguous == ()
    assert counts.names <= 90
    assert counts.entries <= 204
    assert (counts.commands, counts.entries) == (len(NAMES), len(list(list_entries())))


def test_a_second_meaning_is_noticed(monkeypatch):
    words, number = (
        Option("--seed", text) for text in ("Seed of the random numbers.", "Seeds of a cucumber.")
    )
    fit = all_commands()["fit"]
    monkeypatch.setattr(list_options, "options_of", lambda one: [words if one is fit else number])
    assert count_options().ambiguous == ("--seed",)


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


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("generate plan.toml --region much", "'--region': much is not a size in bytes"),
        ("generate plan.toml --region 0", "'--region': must be at least 1"),
        ("generate plan.toml --region 5G", "'--region': must be at most 4,294,967,295"),
        ("check run.heap --plan plan.toml --growth much", "'--growth': much is not a percentage"),
        ("size run.heap --admission nan", "'--admission': nan is not a share from 0 to 1"),
        ("size run.heap --admission 101%", "'--admission': 101% is not a share from 0 to 1"),
        ("import run.heap --workers many", "'--workers': many is neither a number nor an address"),
        ("import run.heap run.heap --workers tcp://host:1", "this runs here alone (give a number)"),
        (f"bounds run.heap --search {10**20}", "'--search': must be at most 1,000,000,000"),
        ("settings", "Missing argument 'SYSTEM'. Choose from: lwip, zephyr, "),
        ("slotbuf 1 1 --region 0", "'--region': must be at least 1"),
    ],
)
def test_a_bad_value_is_told_in_one_line(words, told, tmp_path, monkeypatch):
    (tmp_path / "plan.toml").write_text(PLAN)
    (tmp_path / "run.heap").write_text("a 0 8\n")
    monkeypatch.chdir(tmp_path)
    done = call_heapfit(*words.split())
    assert done.returncode == 2
    assert told in " ".join(done.stderr.split())
