"""Dataclasses to JSON and back."""

from __future__ import annotations

import dataclasses
import decimal
import functools
import json
import numbers
import typing
from typing import Any, Callable, Iterator, Mapping, Optional, Union

from ._types import Fault


def encode(value: Any) -> str:
    """The JSON of a value. Fields that are None are left out; quantities by the names of kinds become lists."""
    return _dumps(_plain(value, getattr(value, "kinds", None)))


def encode_line(value: Any, kinds: list[str]) -> str:
    """The JSON of a line of a stream whose first line has named the kinds."""
    return _dumps(_plain(value, kinds))


def _dumps(value: Any) -> str:
    try:
        return _json(value)
    except (TypeError, ValueError):
        from ._errors import BadInput

        faults = list(_faults(value))
        raise BadInput(f"faults in the input: {len(faults)}", faults) from None


def _json(value: Any) -> str:
    text = json.dumps(value, separators=(",", ":"), allow_nan=False, ensure_ascii=False, default=_number)
    text.encode()  # half of a surrogate pair would come back as another name
    return text


def _number(value: Any) -> Any:
    """The number of another type: of numpy, a Fraction, a Decimal."""
    if isinstance(value, numbers.Integral):
        return int(value)
    if isinstance(value, (numbers.Real, decimal.Decimal)):
        return float(value)
    raise TypeError


def _faults(value: Any, field: str = "") -> Iterator[Fault]:
    """What JSON does not have of a value, field by field."""
    if isinstance(value, dict):
        for k, v in value.items():
            yield from _faults(v, f"{field}.{k}" if field else str(k))
    elif isinstance(value, list):
        for at, v in enumerate(value):
            yield from _faults(v, f"{field}[{at}]")
    for one in value if isinstance(value, dict) else [] if isinstance(value, list) else [value]:
        try:
            _json(one)
        except TypeError:
            yield Fault("", field, repr(one), "has the wrong type")
        except UnicodeEncodeError:
            yield Fault("", field, repr(one), "is out of range")
        except ValueError:
            yield Fault("", field, repr(one), "is not a finite number")


def _plain(value: Any, kinds: Optional[list[str]]) -> Any:
    if dataclasses.is_dataclass(value):
        fields = _fields(type(value))
        return {name: _vector(v, kinds) if vector else _plain(v, kinds)
                for attribute, (name, _, vector) in fields.items() if (v := getattr(value, attribute)) is not None}
    if isinstance(value, Mapping):
        return {k: _plain(v, kinds) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(v, kinds) for v in value]
    return value


def _vector(value: Any, kinds: Optional[list[str]]) -> Any:
    if not isinstance(value, Mapping) or kinds is None:
        return value
    unknown = [k for k in value if k not in kinds]
    if unknown:
        raise ValueError(f"{unknown[0]!r} is no kind: the kinds are {', '.join(kinds)}")
    return [value.get(k, 0) for k in kinds]


@functools.lru_cache(maxsize=None)
def _fields(cls: type) -> dict[str, tuple[str, Any, bool]]:
    """By attribute: the name in JSON, the type, and whether it is a vector of resources."""
    from . import _types

    hints = typing.get_type_hints(cls)
    resources = (_types.Resources, Optional[_types.Resources])
    return {f.name: (f.name.rstrip("_"), hints[f.name], hints[f.name] in resources) for f in dataclasses.fields(cls)}


def decode(text: bytes, cls: type) -> Any:
    """A value of a class from its JSON."""
    return decode_value(json.loads(text), cls)


def decode_line(text: bytes, classes: tuple[type, ...]) -> Any:
    """A value of the first class that has all fields of a line, and of which the line has all that are required."""
    value = json.loads(text)
    for cls in classes:
        fields = _fields(cls)
        required = {fields[f.name][0] for f in dataclasses.fields(cls) if f.default is dataclasses.MISSING}
        if required <= value.keys() <= {name for name, _, _ in fields.values()}:
            return decode_value(value, cls)
    raise ValueError(f"unknown line: {text.decode()}")


def decode_value(value: Any, kind: Any) -> Any:
    """A value of a type from what json has read."""
    read = _reader(kind)
    return read(value) if read else value


@functools.lru_cache(maxsize=None)
def _reader(kind: Any) -> Optional[Callable[[Any], Any]]:
    """What makes a value of a type from what json has read, found once for each type; None: that is one already."""
    if dataclasses.is_dataclass(kind):
        return lambda value: kind(**{at[0]: at[1](v) if at[1] else v for name, v in value.items() if (at := _readers(kind).get(name))})
    origin, args = typing.get_origin(kind), [a for a in typing.get_args(kind) if a is not type(None)]
    read = _reader(args[-1]) if origin in (list, dict) or origin is Union and len(args) == 1 else None
    if read is None:
        return None
    if origin is list:
        return lambda value: [read(v) for v in value]
    if origin is dict:
        return lambda value: {k: read(v) for k, v in value.items()}
    return lambda value: value if value is None else read(value)


@functools.lru_cache(maxsize=None)
def _readers(cls: type) -> dict[str, tuple[str, Optional[Callable[[Any], Any]]]]:
    """By name in JSON: the attribute, and what reads it."""
    return {name: (attribute, _reader(of)) for attribute, (name, of, _) in _fields(cls).items()}
