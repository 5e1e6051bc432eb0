# SPDX-License-Identifier: Apache-2.0
"""Completion of commands, their options and the names that they know, as a script of a shell."""

from collections.abc import Iterator, Mapping, Sequence

from heapfit import _engine
from heapfit.cli.arguments import Shell
from heapfit.cli.parser import Option
from heapfit.comparison.incumbents.heap_names import list_heap_names
from heapfit.plan.allocators import find_allocators

# Of each shell how its script begins, the line of a command, that of all commands, and the end.
_SCRIPTS = {
    Shell.BASH: (
        '_heapfit() {\n    local word="${COMP_WORDS[COMP_CWORD]}" name="" offered\n'
        '    [ "$COMP_CWORD" -lt 2 ] || name="${COMP_WORDS[1]}"\n    case "$name" in',
        '        {name}) offered="{words}" ;;',
        '        *) offered="{words}" ;;',
        "    esac\n"
        '    mapfile -t COMPREPLY < <(compgen -W "$offered" -- "$word"; compgen -f -- "$word")\n'
        "}\ncomplete -o filenames -F _heapfit heapfit",
    ),
    Shell.ZSH: (
        '_heapfit() {\n    local name="" offered\n'
        '    (( CURRENT < 3 )) || name="${words[2]}"\n    case "$name" in',
        '        {name}) offered="{words}" ;;',
        '        *) offered="{words}" ;;',
        "    esac\n    compadd -- ${=offered}\n    _files\n}\ncompdef _heapfit heapfit",
    ),
    Shell.FISH: (
        "complete -c heapfit -e",
        'complete -c heapfit -n "__fish_seen_subcommand_from {name}" -a "{words}"',
        'complete -c heapfit -n __fish_use_subcommand -f -a "{words}"',
        "",
    ),
}


def completion_lines(shell: Shell, commands: Mapping[str, Sequence[Option]]) -> Iterator[str]:
    """The script that a shell sources; `commands`: the options of each."""
    allocators = [info.name for info in find_allocators()]
    # What may stand where a command has arguments of its own, beside files and choices.
    known = {
        "compare": list_heap_names(),
        "allocators": allocators,
        "workload": [info.name for info in _engine.workloads()],
    }
    begin, line, last, end = _SCRIPTS[shell]
    yield f"# SPDX-License-Identifier: Apache-2.0\n# {shell} completion of heapfit: source it."
    yield begin
    for name, options in commands.items():
        words = [word for one in options for word in (*one.names[-1:], *one.choices)]
        offered = dict.fromkeys([*words, *known.get(name, [])])
        yield line.format(name=name, words=" ".join(offered))
    yield last.format(words=" ".join(commands))
    yield end
