# SPDX-License-Identifier: Apache-2.0
"""What the tests on boards share: one workbench, so that sources are compiled once."""

import pytest

from harness.workbench import Workbench


@pytest.fixture(scope="session")
def workbench(tmp_path_factory: pytest.TempPathFactory) -> Workbench:
    return Workbench(tmp_path_factory.mktemp("workbench"))
