# SPDX-License-Identifier: Apache-2.0
"""The slot-buffer benchmark of Cebeci 2019: the runs, and what they come to."""

REPORT_REGION = 64 * 1024  # bytes, headers included
STANDARD_LEAST = 8  # the report does not tell its sizes; with these its measurements come out
STANDARD_MOST = 350
