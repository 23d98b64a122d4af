#!/usr/bin/env bash
# Fetches the OR-Tools shared libraries into the folder given as the only argument: downloads the
# official Python wheel with pip, checks it against wheels.sha256, and unpacks nothing but the
# libraries. Point APPORTION_ORTOOLS_LIB to that folder afterwards. A folder that is complete is
# left alone. Linux on x86_64 and aarch64.
set -euo pipefail

readonly version=9.15.6755
here=$(cd "$(dirname "$0")" && pwd)
target=${1:?usage: fetch.sh FOLDER}

if [[ -f $target/VERSION && $(<"$target/VERSION") == "$version" ]]; then
  exit 0
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The interpreter's own version does not matter: every wheel of a release holds the same libraries,
# and a fixed choice has one checksum.
python3 -m pip download --quiet --no-deps --only-binary=:all: --implementation cp --python-version 311 \
  --platform "manylinux_2_28_$(uname -m)" --dest "$work" "ortools==$version"
(cd "$work" && sha256sum --check --ignore-missing --quiet "$here/wheels.sha256")

python3 -m zipfile -e "$work"/ortools-*.whl "$work/wheel"
rm -rf "${target:?}/ortools" "${target:?}/ortools.libs"
mkdir -p "$target/ortools"
# The libraries find each other by their relative places in the wheel.
cp -r "$work/wheel/ortools/.libs" "$target/ortools/"
cp -r "$work/wheel/ortools.libs" "$target/"
cp "$work"/wheel/ortools-*.dist-info/licenses/LICENSE "$target/"
echo "$version" >"$target/VERSION"
