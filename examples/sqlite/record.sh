#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Records the sqlite3 shell, fed with the SQL of session.awk: record.sh [OUTPUT]
# Needs: apt-get install sqlite3 mawk, and heapfit on PATH.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
awk -f "$here/session.awk" |
    heapfit record -o "${1:-$here/sqlite.parquet}" -- sqlite3 -batch -init /dev/null :memory: |
    tail -n 1
