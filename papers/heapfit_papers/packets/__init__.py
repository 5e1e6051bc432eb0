# SPDX-License-Identifier: Apache-2.0
"""The queue of packets of Mamagkakis et al.: its fitted mix, and what allocators cost on it.

mix.py            the mix that the published totals imply, and a queue of it as a trace
described.py      the paper's Linux allocator, which splits and coalesces predefined blocks
instructions.csv  instructions of allocators on an emulated Cortex-M4, read by instructions.py
"""
