"""Builds wheels: the package with the C library in it, for this machine or with the Zig compiler for others.

    python build.py                  # for this machine, with its own C compiler: for tests
    python build.py --zig all        # for every platform of TARGETS, with python -m ziglang cc
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import os
import pathlib
import subprocess
import sys
import sysconfig
import zipfile

HERE = pathlib.Path(__file__).parent
COMMAND = HERE.parent / "apportion"
VERSION = "0.1.0"

# By platform tag of a wheel: GOOS, GOARCH and the target of the Zig compiler; glibc 2.17 is that of manylinux2014, and Go needs macOS 12.
# A library of Go cannot be loaded by programs on musl, whose loader refuses its thread-local storage.
TARGETS = {
    "manylinux2014_x86_64": ("linux", "amd64", "x86_64-linux-gnu.2.17"),
    "manylinux2014_aarch64": ("linux", "arm64", "aarch64-linux-gnu.2.17"),
    "win_amd64": ("windows", "amd64", "x86_64-windows-gnu"),
    "macosx_12_0_arm64": ("darwin", "arm64", "aarch64-macos.12.0"),
    "macosx_12_0_x86_64": ("darwin", "amd64", "x86_64-macos.12.0"),
}

# Go names two libraries of Apple to the linker and uses nothing of them but that they are loaded. The files here say where a Mac has them.
MACOS = HERE / "macos"

NAMES = {"linux": "libapportion.so", "darwin": "libapportion.dylib", "windows": "apportion.dll"}

METADATA = f"""Metadata-Version: 2.1
Name: apportion
Version: {VERSION}
Summary: Who gets how much of a machine-learning cluster: fair shares, placements with bounds, admission, growth
License: Apache-2.0
Requires-Python: >=3.9
Description-Content-Type: text/markdown

"""


def library(path: pathlib.Path, goos: str, goarch: str, compiler: str) -> None:
    """Compiles the C library."""
    environment = dict(os.environ, CGO_ENABLED="1", GOOS=goos, GOARCH=goarch)
    if compiler:
        environment["CC"] = compiler
    subprocess.run(["go", "build", "-buildmode=c-shared", "-tags", "apportion_clib", "-trimpath", "-ldflags=-s -w", "-o", str(path), "."],
                   cwd=COMMAND, env=environment, check=True)
    path.with_suffix(".h").unlink(missing_ok=True)


def wheel(folder: pathlib.Path, tag: str, lib: pathlib.Path) -> pathlib.Path:
    """Puts a wheel with a library into a folder."""
    info = f"apportion-{VERSION}.dist-info"
    files = {f"apportion/{p.name}": p.read_bytes() for p in sorted((HERE / "src" / "apportion").glob("*.py"))}
    files["apportion/py.typed"] = b""
    files[f"apportion/{lib.name}"] = lib.read_bytes()
    files[f"{info}/METADATA"] = (METADATA + (HERE / "README.md").read_text()).encode()
    files[f"{info}/LICENSE"] = (HERE.parent.parent / "LICENSE").read_bytes()
    files[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: build.py\nRoot-Is-Purelib: false\nTag: py3-none-{tag}\n".encode()
    digests = {name: base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode() for name, data in files.items()}
    rows = [f"{name},sha256={digests[name]},{len(data)}" for name, data in files.items()]
    files[f"{info}/RECORD"] = "\n".join([*rows, f"{info}/RECORD,,", ""]).encode()
    path = folder / f"apportion-{VERSION}-py3-none-{tag}.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            # The same time in every build, so that the same source is the same wheel.
            archive.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), data, zipfile.ZIP_DEFLATED)
    return path


def main() -> None:
    parser = argparse.ArgumentParser(description="builds wheels")
    parser.add_argument("--zig", metavar="TAG", help="a platform of TARGETS, or all: compile with ziglang")
    parser.add_argument("--into", type=pathlib.Path, default=HERE / "dist", help="the folder for wheels and libraries")
    options = parser.parse_args()
    options.into.mkdir(parents=True, exist_ok=True)
    if not options.zig:
        goos = {"win32": "windows"}.get(sys.platform, sys.platform)
        goarch = subprocess.run(["go", "env", "GOARCH"], check=True, capture_output=True, text=True).stdout.strip()
        targets = {sysconfig.get_platform().replace("-", "_").replace(".", "_"): (goos, goarch, "")}
    else:
        targets = TARGETS if options.zig == "all" else {options.zig: TARGETS[options.zig]}
    for tag, (goos, goarch, target) in targets.items():
        lib = options.into / tag / NAMES[goos]
        apple = f" -L{MACOS} -F{MACOS}" if target and goos == "darwin" else ""
        library(lib, goos, goarch, f"{sys.executable} -m ziglang cc -target {target}{apple}" if target else "")
        path = wheel(options.into, tag, lib)
        print(f"{path}  {path.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
