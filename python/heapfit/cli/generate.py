# SPDX-License-Identifier: Apache-2.0
"""`heapfit generate`: writes a plan as a folder of plain C, or the recorder for firmware."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from heapfit.cli.arguments import reject_options
from heapfit.cli.commands.fitting import GenerateCommand
from heapfit.cli.parser import UsageError
from heapfit.cli.printing.console import print_result
from heapfit.comparison.incumbents.heap_plans import describe_own_heap
from heapfit.drawing.parts import Fields, Line, Note, Part
from heapfit.errors import HeapfitError
from heapfit.generate import generate, write_recorder
from heapfit.generate.options import GenerateOptions, region_warning
from heapfit.generate.proof import Proof, prove_folder, require_provers
from heapfit.plan.plan_file import load_plan, pointer_size_warning
from heapfit.sweep import usable_cores


def run(command: GenerateCommand) -> None:
    if command.plan is None:
        print_result(_parts(None, _write_recorder(command)), command.as_json)
    else:
        _run_of_plan(command, command.plan)


def _write_recorder(command: GenerateCommand) -> list[Path]:
    if not command.records or command.output is None:
        raise UsageError("give PLAN; or --record and -o, for the recorder without a heap")
    why = "it is of a plan's code, and the recorder has the files of every platform (docs/chips.md)"
    reject_options(command, ("platforms", "counts", "region"), why)
    return write_recorder(command.output)


def _run_of_plan(command: GenerateCommand, plan: Path) -> None:
    plan_file = load_plan(plan, takes_memories=True)
    if plan_file.heap:
        line = Line(f"{plan}: {describe_own_heap(plan_file)}.", is_copied=True)
        print_result([Fields({"plan": plan, "files": []}), line], command.as_json)
        return
    folder = command.output or plan.parent / "code"
    if command.prove:
        if "one-file" in (command.platforms or ()):
            raise HeapfitError("--prove reads the files of src/: omit --for one-file")
        require_provers()
    if command.region is not None and command.is_region_given:
        raise UsageError("give --region or --region-given, not both")
    proofs: list[Proof] = []
    options = GenerateOptions(
        tuple(command.platforms or ()),
        command.counts,
        command.is_region_given,
        command.region,
        usable_cores(),
        command.records,
        (lambda staging: proofs.append(require_proof(staging))) if command.prove else None,
    )
    paths = generate(plan_file, folder, command.prefix, options)
    pointers = pointer_size_warning(plan_file.trained_on.kind, plan_file.pointer_bits)
    warnings = [text for text in (pointers, region_warning(plan_file, command.region)) if text]
    print_result(_parts(plan, paths, warnings, proofs), command.as_json)


def require_proof(folder: Path) -> Proof:
    """The proof of a folder that is not in its place yet; HeapfitError if a goal is left."""
    proof = prove_folder(folder)
    if proof.left:
        left = ", ".join(proof.left)
        raise HeapfitError(f"--prove: goals not proven, nothing written: {left}")
    return proof


def _parts(
    plan: Path | None,
    paths: Sequence[Path],
    warnings: Sequence[str] = (),
    proofs: Sequence[Proof] = (),
) -> list[Part]:
    proven = {"goals": proofs[0].goals, "goals_proven": proofs[0].proven} if proofs else {}
    return [
        Fields({"plan": plan, "files": paths, "warnings": warnings, **proven}),
        *(Line(str(path), is_copied=True) for path in paths),
        *map(Note, warnings),
        *(Line(f"{one.proven} of {one.goals} goals proven") for one in proofs),
    ]
