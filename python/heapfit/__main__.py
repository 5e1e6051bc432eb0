# SPDX-License-Identifier: Apache-2.0
"""`python -m heapfit` is `heapfit`."""

from heapfit.cli.start import run

run()
