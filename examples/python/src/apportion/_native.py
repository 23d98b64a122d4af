"""The library and its four functions: open, call, free, version."""

from __future__ import annotations

import ctypes
import json
import pathlib
import sys

_NAME = {"darwin": "libapportion.dylib", "win32": "apportion.dll"}.get(sys.platform, "libapportion.so")
_library = ctypes.CDLL(str(pathlib.Path(__file__).with_name(_NAME)))
_library.apportion_open.argtypes = [ctypes.c_char_p]
_library.apportion_open.restype = ctypes.c_size_t
_library.apportion_call.argtypes = [
    ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t, ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(ctypes.c_size_t)]
_library.apportion_call.restype = ctypes.c_int
_library.apportion_free.argtypes = [ctypes.c_void_p]
_library.apportion_free.restype = None
_library.apportion_version.restype = ctypes.c_void_p


def version() -> str:
    """Which version of the library this is, and of Go."""
    text = _library.apportion_version()
    try:
        return ctypes.string_at(text).decode()
    finally:
        _library.apportion_free(text)


class Session:
    """A subcommand of the library, with its flags, as the README of the command has them. Other threads run during a call."""

    def __init__(self, *args: str) -> None:
        self._handle = _library.apportion_open(json.dumps(args).encode())

    def call(self, text: str) -> tuple[int, bytes]:
        """The exit code and the answer to an input: with another code than 0 the error."""
        return self._call(text.encode())

    def close(self) -> tuple[int, bytes]:
        """Ends the input, and returns what a stream answers last. A session that is closed answers nothing."""
        handle, self._handle = self._handle, 0
        return self._call(None, handle) if handle else (0, b"")

    def _call(self, text: bytes | None, handle: int = 0) -> tuple[int, bytes]:
        out, size = ctypes.c_void_p(), ctypes.c_size_t()
        code = _library.apportion_call(handle or self._handle, text, len(text or b""), ctypes.byref(out), ctypes.byref(size))
        try:
            return code, ctypes.string_at(out, size.value)
        finally:
            _library.apportion_free(out)

    def __del__(self) -> None:
        if getattr(self, "_handle", 0):
            self.close()
