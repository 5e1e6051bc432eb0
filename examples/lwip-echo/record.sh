#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds echo.c against Debian's lwIP and records it: record.sh [OUTPUT]
# Needs: apt-get install gcc pkg-config liblwip-dev, and heapfit on PATH.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
output=${1:-$here/lwip-echo.parquet}
build=$(mktemp -d)
trap 'rm -r "$build"' EXIT
# shellcheck disable=SC2046 # the flags are words
cc -std=gnu11 -O2 -Wall -Wextra -Werror $(pkg-config --cflags lwip) "$here/echo.c" \
    -o "$build/lwip-echo" $(pkg-config --libs lwip) -pthread
heapfit record -o "$output" -- "$build/lwip-echo"
