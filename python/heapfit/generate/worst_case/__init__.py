# SPDX-License-Identifier: Apache-2.0
"""The worst case of calls, read from linked machine code: instructions, and bytes of stack.

linked_code      a linked Thumb or RV32 program, its functions and instructions
loop_marks       how often loops are run, as core's sources say it
loops            which instructions are loops
longest_path     the longest way through a function
bound            the worst case of a function: its longest way and deepest stack
"""
