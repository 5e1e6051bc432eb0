# SPDX-License-Identifier: Apache-2.0
"""The design space of a trace and its Pareto front: memory, time, energy and code side by side.

docs/front.md tells what each measure is and how sure it is.
"""
