# SPDX-License-Identifier: Apache-2.0
"""What the recorded programs read, drawn from a seed: a generator of text for each kind."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from random import Random

# fmt: off
WORDS = [
    "valve", "pump", "meter", "line", "gate", "north", "south", "cellar", "roof", "tank",
    "flow", "level", "open", "closed", "alarm", "check", "battery", "relay", "motor", "shift",
    "batch", "order", "unit", "bolt", "plate", "seal", "sensor", "board", "cable", "fuse",
]
# fmt: on
KINDS = ("temperature", "humidity", "pressure", "battery", "level", "flow")


def sentence(random: Random, most: int) -> str:
    return " ".join(random.choices(WORDS, k=random.randint(1, most)))


def sql(random: Random, batches: int, rows: int, text: int, keep: int) -> Iterator[str]:
    """A logger's session: batches of rows, a status page, old rows dropped."""
    yield "create table reading(id integer primary key, sensor int, value real, note text);"
    yield "create index by_sensor on reading(sensor, id);"
    count = 0
    for batch in range(batches):
        yield "begin;"
        for _ in range(random.randint(1, rows)):
            count += 1
            note = sentence(random, text) if random.random() < 0.4 else ""
            yield (
                f"insert into reading values({count}, {random.randrange(40)}, "
                f"{random.random():.4f}, '{note}');"
            )
        yield "commit;"
        yield (
            "select sensor, avg(value), count(*) from reading "
            f"where id > {count - 200} group by sensor;"
        )
        if batch % 7 == 0:
            word = random.choice(WORDS)
            yield (
                f"select id, note from reading where note like '%{word}%' order by value limit 20;"
            )
        if count > keep:
            yield f"delete from reading where id <= {count - keep};"


def readings(random: Random, lines: int, sensors: int, text: int) -> Iterator[str]:
    """A line a reading: time, sensor, kind, value and a note."""
    time = 0
    for _ in range(lines):
        time += random.randint(1, 30)
        yield (
            f"{time} s{random.randrange(sensors)} {random.choice(KINDS)} "
            f"{random.gauss(20, 6):.2f} {sentence(random, text)}"
        )


def tree(random: Random, depth: int, width: int, text: int) -> object:
    """A nested document: what a device's configuration or a status report looks like."""
    if depth == 0 or random.random() < 0.2:
        return random.choice(
            (random.randint(0, 9999), random.random(), sentence(random, text), True, None)
        )
    if random.random() < 0.4:
        return [tree(random, depth - 1, width, text) for _ in range(random.randint(1, width))]
    names = random.sample(WORDS, random.randint(1, width))
    return {name: tree(random, depth - 1, width, text) for name in names}


def documents(random: Random, count: int, depth: int, width: int, text: int) -> Iterator[str]:
    """A JSON document a line."""
    for number in range(count):
        yield json.dumps({"id": number, "content": tree(random, depth, width, text)})


def xml(random: Random, items: int, text: int, attributes: int) -> Iterator[str]:
    """One document: parts with attributes, notes and nested parts."""
    yield "<?xml version='1.0'?><stock>"
    for number in range(items):
        names = random.sample(WORDS, random.randint(0, attributes))
        told = " ".join(f"{name}='{random.randrange(1000)}'" for name in names)
        yield f"<part id='p{number}' {told}><note>{sentence(random, text)}</note>"
        for _ in range(random.randrange(4)):
            yield f"<count of='{random.choice(WORDS)}'>{random.randrange(10**6)}</count>"
        yield "</part>"
    yield "</stock>"


def c_source(random: Random, functions: int, statements: int) -> Iterator[str]:
    """Functions over integers and arrays, each calling those before it."""
    yield "extern int table[64]; int table[64];"
    for number in range(functions):
        yield f"int f{number}(int a, int b, int *p) {{ int c = a ^ b, d = {number};"
        for _ in range(random.randint(1, statements)):
            yield from _statement(random, number)
        yield "return a + b * c - d; }"


def _statement(random: Random, number: int) -> Iterator[str]:
    x, y, z = (random.choice("abcd") for _ in range(3))
    operator = random.choice("+-*&|^")
    kind = random.randrange(5)
    if kind == 0:
        times = random.randint(2, 40)
        yield f"for (int i = 0; i < {times}; i++) {{ p[i] {operator}= {x}; {y} += p[i]; }}"
    elif kind == 1:
        yield f"if ({x} > {y}) {{ {z} = {x} {operator} {random.randrange(99)}; }} else {{ {z}--; }}"
    elif kind == 2 and number > 0:
        yield f"{x} += f{random.randrange(number)}({y}, {z}, p);"
    elif kind == 3:
        cases = " ".join(f"case {i}: {x} {operator}= {i + 3}; break;" for i in range(6))
        yield f"switch ({y} & 7) {{ {cases} default: table[{z} & 63] = {x}; }}"
    else:
        yield f"{x} = {y} {operator} ({z} << {random.randrange(8)});"


def git_stream(random: Random, commits: int, files: int, lines: int) -> Iterator[str]:
    """What `git fast-import` reads: commits that change a few of the files."""
    for number in range(commits):
        yield "commit refs/heads/main"
        yield f"committer A <a@example.org> {1_000_000 + number * 60} +0000"
        told = sentence(random, 9)
        yield f"data {len(told)}\n{told}"
        for file in random.sample(range(files), random.randint(1, 4)):
            text = "\n".join(sentence(random, 12) for _ in range(random.randint(1, lines)))
            yield f"M 644 inline {WORDS[file % len(WORDS)]}/{file}.txt"
            yield f"data {len(text)}\n{text}"


def arithmetic(random: Random, lines: int, digits: int) -> Iterator[str]:
    """For bc: powers, roots and factorials that later lines take up."""
    yield f"scale = {digits}"
    yield "define f(n) { if (n < 2) return 1; return n * f(n - 1); }"
    for number in range(lines):
        kind = random.randrange(4)
        if kind == 0:
            yield f"v[{number % 30}] = sqrt({random.randrange(2, 10**6)})"
        elif kind == 1:
            yield f"v[{random.randrange(30)}] * v[{random.randrange(30)}] + {random.random():.6f}"
        elif kind == 2:
            yield f"v[{number % 30}] = f({random.randint(5, 40)}) / {random.randrange(1, 10**6)}"
        else:
            yield f"s = s + v[{random.randrange(30)}] / 7; s"


def graph(random: Random, nodes: int, lines: int, text: int) -> Iterator[str]:
    """A drawing for Graphviz: a tree, and lines across it."""
    yield "digraph plant {"
    for number in range(nodes):
        yield f'n{number} [label="{sentence(random, text)}"];'
        if number:
            yield f"n{random.randrange(number)} -> n{number};"
    for _ in range(lines - nodes):
        ends = f"n{random.randrange(nodes)} -> n{random.randrange(nodes)}"
        yield f'{ends} [label="{sentence(random, 2)}"];'
    yield "}"


def grammar(random: Random, rules: int, choices: int, words: int) -> Iterator[str]:
    """A grammar for bison, every choice of which begins with a token of its own."""
    tokens = [f"T{number}" for number in range(rules * choices)]
    yield "%token " + " ".join(tokens)
    yield "%%"
    for rule in range(rules):
        told = []
        for choice in range(random.randint(1, choices)):
            parts = [tokens[rule * choices + choice]]
            for _ in range(random.randrange(words)):
                later = rule < rules - 1 and random.random() < 0.5
                parts.append(
                    f"r{random.randrange(rule + 1, rules)}" if later else random.choice(tokens)
                )
            told.append(" ".join(parts) + f" {{ $$ = {rule}; }}")
        yield f"r{rule}: " + " | ".join(told) + ";"


def markdown(random: Random, parts: int, text: int) -> Iterator[str]:
    """Headings, paragraphs with emphasis and links, lists, quotes and code."""
    for number in range(parts):
        told = sentence(random, text)
        kind = random.randrange(6)
        if kind == 0:
            yield f"{'#' * random.randint(1, 4)} {told}"
        elif kind == 1:
            yield from (f"{'  ' * random.randrange(2)}- {sentence(random, 8)}" for _ in range(4))
        elif kind == 2:
            yield f"> {told}"
        elif kind == 3:
            yield f"```\n{told}\n```"
        else:
            link = f"[{sentence(random, 2)}](page{number}.html)"
            yield f"{told} *{sentence(random, 3)}* {link} {told}"
        yield ""


def assembly(random: Random, routines: int, lines: int) -> Iterator[str]:
    """Routines for nasm with macros, labels and tables."""
    yield "%macro put 2\n mov eax, %1\n add eax, %2\n%endmacro"
    for number in range(routines):
        yield f"routine{number}:"
        for line in range(random.randint(1, lines)):
            kind = random.randrange(4)
            if kind == 0:
                yield f" put {random.randrange(999)}, {random.choice(('ebx', 'ecx', 'edx'))}"
            elif kind == 1:
                yield f".at{line}: dec ecx\n jnz .at{line}"
            elif kind == 2:
                yield f" call routine{random.randrange(routines)}"
            else:
                yield f" mov [table{number} + {4 * random.randrange(8)}], eax"
        yield f" ret\ntable{number}: times 8 dd {random.randrange(99)}"


def macros(random: Random, lines: int, names: int, text: int) -> Iterator[str]:
    """Settings defined, changed and used, for m4."""
    for _ in range(lines):
        name = f"SET_{random.choice(WORDS).upper()}_{random.randrange(names)}"
        kind = random.randrange(4)
        if kind == 0:
            yield f"define(`{name}', `{sentence(random, text)} $1')dnl"
        elif kind == 1:
            yield f"pushdef(`{name}', `{sentence(random, text)}')dnl"
        elif kind == 2:
            yield f"ifdef(`{name}', `popdef(`{name}')', `no {name}')"
        else:
            yield f"{name}({random.randrange(99)}) eval({random.randrange(999)} * 3)"


def html(random: Random, parts: int, text: int, depth: int) -> Iterator[str]:
    """A page some of whose elements are never closed."""
    yield "<!DOCTYPE html><html><head><title>stock</title></head><body>"
    for number in range(parts):
        names = random.choices(
            ("div", "p", "b", "ul", "li", "td", "em"), k=random.randint(1, depth)
        )
        opened = "".join(f'<{name} class="c{number % 7}">' for name in names)
        closed = "".join(f"</{name}>" for name in reversed(names) if random.random() < 0.8)
        yield f'{opened}{sentence(random, text)}<a href="p{number}.html">{number}</a>{closed}'
    yield "</body></html>"


GENERATORS: dict[str, Callable[..., Iterator[str]]] = {
    "sql": sql,
    "readings": readings,
    "documents": documents,
    "xml": xml,
    "c_source": c_source,
    "git_stream": git_stream,
    "arithmetic": arithmetic,
    "graph": graph,
    "grammar": grammar,
    "markdown": markdown,
    "assembly": assembly,
    "macros": macros,
    "html": html,
}
