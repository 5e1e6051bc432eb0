#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# broker.c recorded by the tokens of clang 22, fitted, and run on its heap; broker.c stays as it is.
#   build.sh FOLDER     where all that is made goes
# CLANG and HEAPFIT name the programs; clang 22 is clang-22 in Debian 12.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
top=$here/../..
clang=${CLANG:-clang-22}
heapfit=${HEAPFIT:-heapfit}
python=${PYTHON:-python3}

"$clang" -fsanitize=alloc-token -fsyntax-only -x c /dev/null 2>/dev/null || {
    echo "build.sh: $clang: has no -fsanitize=alloc-token (install clang 22 and name it by CLANG)" >&2
    exit 1
}

# Every call of a unit has a number of its own, below 31, as a plan has 31 tags.
tokens="-fsanitize=alloc-token -Xclang -falloc-token-mode=increment -falloc-token-max=31"
mkdir -p "$1"
cd "$1"

"$clang" -Os $tokens -Dfree=recorded_free -c "$here/broker.c" -o broker_recorded.o
"$clang" -Os -DHFIT_RECORD_CALL_SITES=1 -I"$top/recorder/target" broker_recorded.o "$here/recorded.c" "$top/recorder/target/record.c" -o recorded
./recorded > expected
"$heapfit" import broker.frames -o broker.parquet
"$heapfit" fit broker.parquet --call-sites --alignment 8 -o fit

"$python" "$here/tags.py" fit/plan.toml > tags.h
"$clang" -Os $tokens -Dfree=app_free -c "$here/broker.c" -o broker_fitted.o
"$clang" -Os -I. -Ifit/code broker_fitted.o "$here/fitted.c" fit/code/app_heap.c $(find fit/code/src -name "*.c") -o fitted
./fitted > found
cmp expected found
