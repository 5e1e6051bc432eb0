# SPDX-License-Identifier: Apache-2.0
"""The slot-buffer benchmark of Cebeci 2019: the runs, and what they come to."""
