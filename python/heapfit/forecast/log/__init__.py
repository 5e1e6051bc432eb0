# SPDX-License-Identifier: Apache-2.0
"""Telemetry of a heap in the field, read from the logs that firmware prints.

    file --> text, tables, windows --> states --> boots --> outlook

A state is what one moment shows: free bytes, the least ever free, the largest free block, failed
requests. Its boot ends where the clock or the program starts anew.
"""
