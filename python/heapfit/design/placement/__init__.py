# SPDX-License-Identifier: Apache-2.0
"""What `tailored` learns: the end that serves each request, and the stacks before the heap."""
