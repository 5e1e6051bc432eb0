#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Records Lua running sensors.lua: record.sh [OUTPUT]
# Needs: apt-get install lua5.4, and heapfit on PATH.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
output=$(realpath "${1:-$here/lua.parquet}")
cd "$here" # the script's path is a string on Lua's heap
heapfit record -o "$output" -- lua5.4 sensors.lua
