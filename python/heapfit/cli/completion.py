# SPDX-License-Identifier: Apache-2.0
"""Completion of commands, their options and the names that they know, as a script of a shell."""

from collections.abc import Iterator, Mapping, Sequence

from heapfit import _engine
from heapfit.cli.parser import Option
from heapfit.comparison.incumbents.heap_names import list_heap_names
from heapfit.fact_files import read_facts
from heapfit.plan.allocators import find_allocators


def completion_lines(shell: str, commands: Mapping[str, Sequence[Option]]) -> Iterator[str]:
    """The script that a shell sources; `commands`: the options of each."""
    allocators = [info.name for info in find_allocators()]
    # What may stand where a command has arguments of its own, beside files and choices.
    known = {
        "compare": list_heap_names(),
        "allocators": allocators,
        "workload": [info.name for info in _engine.workloads()],
    }
    script = read_facts(__file__, "completion.toml")[shell]
    yield f"# SPDX-License-Identifier: Apache-2.0\n# {shell} completion of heapfit: source it."
    yield script["begin"]
    for name, options in commands.items():
        words = [word for one in options for word in (*one.names[-1:], *one.choices)]
        offered = dict.fromkeys([*words, *known.get(name, [])])
        yield script["line"].format(name=name, words=" ".join(offered))
    yield script["last"].format(words=" ".join(commands))
    yield script["end"]
