#!/usr/bin/env bash
# Runs the tests that cross the border to C under the address sanitizer: reads and writes outside of a
# buffer or after it was freed, second frees and, at the end, memory that nobody holds any more, in
# this package and in whatever the engines take from the same heap. Tests of time limits stay out: all
# is slower here. It needs gcc or clang with libasan, Linux, and the libraries (APPORTION_ORTOOLS_LIB).
# More arguments go to go test, for instance -count=5.
set -euo pipefail
cd "$(dirname "$0")"

export APPORTION_REQUIRE_ORTOOLS=1 # without the libraries there is nothing to check
export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_leaks=1:halt_on_error=1}
go test -asan -short -count=1 -timeout=9m \
  -run='^(TestHostile|TestTogether|TestCancelledAtOnce|TestLeaving|TestDeterministic|TestP2|TestOASiS|TestUnavailable|TestLookup|FuzzSolve|Example)$' "$@" .
echo "the address sanitizer has found nothing"
