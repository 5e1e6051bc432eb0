# SPDX-License-Identifier: Apache-2.0
"""Counts the package's statements by room, and fails on a commit in which they rise unexplained.

A statement is one of Python's, but imports, docstrings and the heads of functions and classes; a
field is one. Git has what was before, so nothing in the tree is to be renewed.

    HEAD against its first parent      judged, by the messages of the commits between the two
    the working tree against HEAD      told: its message is not written yet

Where rooms rise by more than 200 in all, a line `Removes: ...` of the message says what goes. The
total rises by no more than ALLOWED has for an issue, in all commits that name it (as `4C`).
A merge counts as a whole, and any commit that it merges may explain it. In a shallow clone only
HEAD's parent is needed, and what an issue has used is counted as far as commits are at hand.
"""

import ast
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = "python/heapfit"
MOST_AT_ONCE = 200
ALLOWED = {"4C": 400, "4D": 150, "4G": 100, "4H": 350, "4I": 100}
HEADS = ast.Import | ast.ImportFrom | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
REMOVES = re.compile(r"^Removes: +\S", re.MULTILINE)


def count_statements(text: str) -> int:
    """The statements of a module.

    >>> count_statements('class A:\\n    "Of two fields."\\n    a: int\\n    b: int = 1')
    2
    """
    nodes = (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.stmt))
    return sum(not isinstance(node, HEADS) and not is_docstring(node) for node in nodes)


def is_docstring(node: ast.stmt) -> bool:
    """Whether a statement is a text alone."""
    is_constant = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    return is_constant and isinstance(node.value.value, str)


def git(*words: str, root: Path = ROOT) -> str | None:
    """What git prints; None where it fails."""
    done = subprocess.run(["git", "-C", root, *words], capture_output=True, text=True, check=False)
    return done.stdout if done.returncode == 0 else None


def count_changes(before: str, after: str | None, root: Path = ROOT) -> Counter[str]:
    """By how many statements each room rose from a commit to another, or to the working tree."""
    revisions = [before, after] if after else [before]
    names = git("diff", "--name-only", "--no-renames", *revisions, "--", PACKAGE, root=root) or ""
    if after is None:
        new = git("ls-files", "--others", "--exclude-standard", "--", PACKAGE, root=root)
        names += new or ""
    changes: Counter[str] = Counter()
    for name in names.splitlines():
        if name.endswith(".py"):
            was, becomes = text_at(before, name, root), text_at(after, name, root)
            changes[room_of(name)] += count_statements(becomes) - count_statements(was)
    return changes


def text_at(revision: str | None, name: str, root: Path) -> str:
    """A file of a commit or of the working tree; empty if it is not there."""
    if revision:
        return git("show", f"{revision}:{name}", root=root) or ""
    return (root / name).read_text(encoding="utf-8") if (root / name).is_file() else ""


def room_of(name: str) -> str:
    """The folder of the package that a file lies in, or the module at its top.

    >>> room_of("python/heapfit/plan/plan.py"), room_of("python/heapfit/errors.py")
    ('plan', 'errors')
    """
    return Path(name).relative_to(PACKAGE).parts[0].removesuffix(".py")


def problems(changes: Counter[str], message: str, used: Counter[str]) -> Iterator[str]:
    """What a message lacks, where the issues have used so many statements before."""
    added = sum(change for change in changes.values() if change > 0)
    if added > MOST_AT_ONCE and not REMOVES.search(message):
        rooms = ", ".join(f"{room} {change:+}" for room, change in changes.items() if change > 0)
        yield f"{added} statements are added ({rooms}): say what goes, in a line `Removes: ...`"
    total = changes.total()
    named = [issue for issue in ALLOWED if re.search(rf"\b{issue}\b", message)]
    if total > 0 and not named:
        yield f"the total rises by {total}: remove as much, or name the issue that allows it"
    elif total > max(0, sum(left := [ALLOWED[issue] - used[issue] for issue in named])):
        yield f"the total rises by {total}: {' and '.join(named)} may add {max(0, sum(left))} more"


def count_used(before: str, root: Path = ROOT) -> Counter[str]:
    """The statements that commits up to one have added for each issue, as far as git has them."""
    used: Counter[str] = Counter()
    for issue in ALLOWED:
        named = rf"\b{issue}\b"
        commits = git("log", "--no-merges", "--format=%H", f"--grep={named}", before, root=root)
        for commit in (commits or "").split():
            if git("rev-parse", "--quiet", "--verify", f"{commit}^", root=root):
                used[issue] += count_changes(f"{commit}^", commit, root).total()
    return used


def judge_head(root: Path = ROOT) -> list[str]:
    """What is wrong with HEAD; nothing where its parent is not at hand."""
    message = git("log", "--format=%B", "HEAD^1..HEAD", root=root)
    if message is None:
        print("no parent commit at hand: what HEAD adds is not judged")
        return []
    changes = count_changes("HEAD^1", "HEAD", root)
    print("HEAD:", describe(changes))
    return list(problems(changes, message, count_used("HEAD^1", root)))


def describe(changes: Counter[str]) -> str:
    """The rooms that rise and fall, and the total.

    >>> describe(Counter(plan=3, trace=-5))
    'plan +3, trace -5; -2 statements'
    """
    rooms = ", ".join(f"{room} {change:+}" for room, change in sorted(changes.items()) if change)
    return f"{rooms}; {changes.total():+} statements" if rooms else "no statement more or less"


def main() -> None:
    """Prints the counts; exit code 1 if HEAD explains too little."""
    counts: Counter[str] = Counter()
    for file in sorted((ROOT / PACKAGE).rglob("*.py")):
        counts[room_of(str(file.relative_to(ROOT)))] += count_statements(file.read_text("utf-8"))
    print(", ".join(f"{room} {count:,}" for room, count in sorted(counts.items())))
    print(f"{counts.total():,} statements")
    wrong = judge_head()
    if git("rev-parse", "HEAD") and (changes := count_changes("HEAD", None)):
        print("working tree:", describe(changes))
        print(*(f"    its commit: {one}" for one in problems(changes, "", Counter())), sep="\n")
    sys.exit("\n".join(f"HEAD: {one}" for one in wrong) or None)


if __name__ == "__main__":
    main()
