# SPDX-License-Identifier: Apache-2.0
"""What the tests on boards share: the plug-in, built once."""

from pathlib import Path

import pytest

from heapfit.target.emulator import build_plugin


@pytest.fixture(scope="session")
def plugin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_plugin(tmp_path_factory.mktemp("plugin"))
