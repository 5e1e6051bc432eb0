# SPDX-License-Identifier: Apache-2.0
"""HFIT_CONTRACT grows whenever what tables are bound to changes."""

import hashlib
import re

from generated_code import ROOT

BOUND = ("include/hfit/contract.h", "include/hfit/pools.h", "src/pools/layout.h")
COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
# Of the code of these files, by contract. A new number gets a new line; old lines stay.
CONTRACTS = {
    1: "455af03d1cff51c2",
    2: "5bd960d22de40bb5",
    3: "cefa80948398b95b",
    4: "3301cd2f38090996",
    5: "761a83dd89b8e243",
    6: "2709eaab0a27c3eb",
    7: "86e0d17ef4dd5da4",
    8: "106ed2c8a8b8a3d1",
    9: "21490873484e4cf6",
    10: "3bd6ca99db5aeede",
}


def test_the_contract_number_grows_with_plans_and_layout() -> None:
    code = "".join((ROOT / "core" / file).read_text() for file in BOUND)
    digest = hashlib.sha256("".join(COMMENT.sub("", code).split()).encode()).hexdigest()[:16]
    version = (ROOT / "core/include/hfit/version.h").read_text()
    [number] = re.findall(r"^#define HFIT_CONTRACT (\d+)$", version, re.MULTILINE)
    assert {int(number): digest}.items() <= CONTRACTS.items(), "raise HFIT_CONTRACT in version.h"
    assert int(number) == max(CONTRACTS)
