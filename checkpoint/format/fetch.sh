#!/usr/bin/env bash
# Installs TensorFlow, MXNet and PyTorch, for the processor only, into the folder given as the only
# argument, each with an interpreter of its own: FOLDER/tensorflow/bin/python, FOLDER/mxnet/bin/python,
# FOLDER/pytorch/bin/python; and the handwritten digits of scikit-learn as FOLDER/digits.csv.gz (1797
# lines of 64 pixels from 0 to 16 and the digit). Point APPORTION_FRAMEWORKS to that folder afterwards.
# A folder that is complete is left alone. Debian 12 on x86_64 with CPython 3.11; PyTorch is Debian's own
# package, so the first run needs root where python3-torch is not installed.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
target=${1:?usage: fetch.sh FOLDER}

# torch_here tells whether the system's own interpreter has PyTorch; importing it would take seconds.
torch_here() {
  /usr/bin/python3 -c 'import importlib.util, sys; sys.exit(importlib.util.find_spec("torch") is None)'
}

version=$(cat "$here/fetch.sh" "$here"/requirements/*.txt | sha256sum)
if [[ -f $target/VERSION && $(<"$target/VERSION") == "$version" ]] && torch_here; then
  exit 0
fi
mkdir -p "$target"
target=$(cd "$target" && pwd)
rm -f "$target/VERSION"

for name in tensorflow mxnet; do
  python3.11 -m venv --clear "$target/$name"
  "$target/$name/bin/python" -m pip install --quiet --disable-pip-version-check --no-compile --only-binary=:all: \
    --require-hashes --requirement "$here/requirements/$name.txt"
done

if ! torch_here; then
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends 'python3-torch=1.13.1*' >/dev/null
fi
/usr/bin/python3 -m venv --clear --without-pip --system-site-packages "$target/pytorch"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3.11 -m pip download --quiet --disable-pip-version-check --no-deps --only-binary=:all: --dest "$work" \
  --require-hashes --requirement "$here/requirements/digits.txt"
python3.11 -m zipfile -e "$work"/scikit_learn-*.whl "$work/wheel"
cp "$work/wheel/sklearn/datasets/data/digits.csv.gz" "$target/"
echo "$version" >"$target/VERSION"
