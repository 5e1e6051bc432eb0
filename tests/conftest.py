# SPDX-License-Identifier: Apache-2.0
"""What all tests start from, however the run was started."""

import signal

# A shell starts background jobs with SIGINT ignored, and what a process ignores its children ignore
# too: a program under test could then never be interrupted.
signal.signal(signal.SIGINT, signal.default_int_handler)
