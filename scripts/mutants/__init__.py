# SPDX-License-Identifier: Apache-2.0
"""Mutants of core, of the engine and of the package: small faults that the tests must notice."""
