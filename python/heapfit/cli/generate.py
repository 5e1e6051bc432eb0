# SPDX-License-Identifier: Apache-2.0
"""`heapfit generate`: writes a plan as a folder of plain C, for C, C++ or Rust."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from heapfit.cli.arguments import AsJson, PlanArgument, RegionOption, make_output_option
from heapfit.cli.printing.parts import Fields, Line, Note, Part, print_result
from heapfit.comparison.incumbents.heap_plans import describe_own_heap
from heapfit.errors import HeapfitError
from heapfit.generate import generate
from heapfit.generate.languages import Language
from heapfit.generate.options import GenerateOptions, region_warning
from heapfit.generate.platforms import Platform
from heapfit.generate.proof import Proof, prove_folder, require_provers
from heapfit.plan.plan_file import load_plan, pointer_size_warning
from heapfit.sweep import usable_cores

CODE = "The C code"


Prefix: TypeAlias = Annotated[
    str,
    typer.Option(
        "--prefix", help="Prefix of every name in the heap's C code.", rich_help_panel=CODE
    ),
]
Platforms: TypeAlias = Annotated[
    list[Platform] | None,
    typer.Option(
        "--for",
        metavar="PLATFORM",
        help=f"Add the platform's API and build files: {', '.join(Platform)}.",
    ),
]
_Language: TypeAlias = Annotated[
    Language,
    typer.Option(
        "--language",
        help="Language of the program that calls the heap. The core is always C.",
    ),
]
_RegionGiven: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--region-given",
        help="The program passes the region, of any size.",
        rich_help_panel=CODE,
    ),
]
_Amalgamate: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--amalgamate",
        help="Write all C as one file beside the header.",
        rich_help_panel=CODE,
    ),
]
_Prove: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--prove",
        help="Verify the C code of pools formally, with Frama-C.",
        rich_help_panel=CODE,
    ),
]


def command(
    plan: PlanArgument,
    output: Annotated[
        Path | None, make_output_option("the folder for the C code [code beside PLAN]")
    ] = None,
    prefix: Prefix = "app",
    language: _Language = Language.C,
    platforms: Platforms = None,
    counts: Annotated[
        bool,
        typer.Option("--counts", help="Count live bytes, their peak, and requests out of memory."),
    ] = False,
    region: RegionOption = None,
    is_region_given: _RegionGiven = False,
    amalgamate: _Amalgamate = False,
    prove: _Prove = False,
    as_json: AsJson = False,
) -> None:
    """Write the C code of a plan: constant tables, a thin wrapper, the allocator."""
    plan_file = load_plan(plan)
    if plan_file.heap:
        line = f"{plan}: {describe_own_heap(plan_file)}."
        print_result([Fields({"plan": plan, "files": []}), Line(line, is_copied=True)], as_json)
        return
    folder = output or plan.parent / "code"
    if prove:
        _require_sources(amalgamate)
        require_provers()
    if region is not None and is_region_given:
        raise typer.BadParameter("give --region or --region-given, not both")
    options = GenerateOptions(
        tuple(platforms or ()), counts, is_region_given, amalgamate, region, usable_cores()
    )
    paths = generate(plan_file, folder, prefix, language, options)
    proof = prove_folder(folder) if prove else None
    pointers = pointer_size_warning(plan_file.trained_on.kind, plan_file.pointer_bits)
    warnings = [text for text in (pointers, region_warning(plan_file, region)) if text]
    print_result(chain(_parts(plan, paths, warnings), _proof_parts(proof)), as_json)
    if proof is not None and proof.left:
        raise HeapfitError(f"{folder}: goals not proven: {', '.join(proof.left)}")


def _require_sources(amalgamate: bool) -> None:
    if amalgamate:
        raise HeapfitError("--prove reads the files of src/: omit --amalgamate")


def _proof_parts(proof: Proof | None) -> Iterator[Part]:
    if proof is not None:
        yield Fields({"goals": proof.goals, "goals_proven": proof.proven})
        yield Line(f"{proof.proven} of {proof.goals} goals proven")


def _parts(plan: Path, paths: Sequence[Path], warnings: Sequence[str]) -> Iterator[Part]:
    yield Fields({"plan": plan, "files": paths, "warnings": warnings})
    for path in paths:
        yield Line(str(path), is_copied=True)
    yield from map(Note, warnings)
