# SPDX-License-Identifier: Apache-2.0
"""The design space of a trace and its Pareto front: memory, time, energy and code.

docs/front.md says what each measure is and how sure it is.
"""
