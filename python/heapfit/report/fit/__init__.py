# SPDX-License-Identifier: Apache-2.0
"""The report of a fit (docs/report.md)."""
