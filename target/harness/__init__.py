# SPDX-License-Identifier: Apache-2.0
"""Runs heaps on emulated microcontrollers and measures them there.

target/README.md tells what is measured and how; the C of the images lies there too.
"""
