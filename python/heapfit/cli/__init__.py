# SPDX-License-Identifier: Apache-2.0
"""The command line: `commands` declares what main.py runs, one file a command."""
