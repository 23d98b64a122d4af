"""Writes src/apportion/_types.py: the types of the JSON that the library reads and writes, from the schemas of the command."""

from __future__ import annotations

import json
import keyword
import pathlib
import textwrap
from typing import Any

SCHEMAS = pathlib.Path(__file__).parent.parent / "apportion" / "schema"

# The schemas, with the name of the whole. A schema of lines has one type for each sort of line, named by its first field.
ROOTS = [
    ("drf.input", "Pool"), ("drf.output", "Filling"),
    ("dorm.input", "Problem"), ("dorm.output", "Decision"), ("verify.output", "Proof"), ("why.output", "Why"),
    ("oasis.header", "Horizon"), ("oasis.input", ""), ("oasis.output", ""),
    ("flowcon.header", "Worker"), ("flowcon.input", ""), ("flowcon.output", ""),
    ("specon.header", "Cluster"), ("specon.input", ""), ("specon.output", ""),
    ("sim.header", "Scenario"), ("sim.input", "Orders"), ("sim.output", ""),
    ("what-if.output", "WhatIf"), ("when.output", "Forecast"), ("when.known", "Lengths"), ("session.input", "Question"), ("session.output", ""),
]

# The types of lines by their first field, and those of fields, if need be of one type alone, whose own names say too little.
NAMES = {
    "oasis.input": {"advance": "Advance", "cancel": "Cancel", "complete": "Complete", "fail": "Fail", "repair": "Repair"},
    "oasis.output": {"decision": "Admission", "advance": "Advanced", "cancel": "Cancelled", "complete": "Completed",
                     "fail": "Failed", "repair": "Repaired", "total_utility": "Total"},
    "oasis.header": {"options": "AdmissionOptions", "bounds": "PriceBounds"},
    "flowcon.header": {"options": "FlowConOptions"},
    "flowcon.input": {"exit": "Exit", "tick": "Tick", "sample": "Sample"},
    "flowcon.output": {"time": "Limits", "limits": "Limit", "moves": "Move"},
    "specon.header": {"server": "WorkerServer", "options": "SpeConOptions"},
    "specon.input": {"exit": "Exit", "tick": "Tick", "sample": "WorkerSample"},
    "specon.output": {"time": "Migrations", "moves": "WorkerMove", "workers": "WorkerState"},
    "sim.output": {"now": "State", "policy": "Result", "State.jobs": "JobState", "Result.jobs": "Outcome"},
    "drf.output": {"claim": "Filled", "queue": "FilledQueue"},
    "what-if.output": {"now": "Outlook", "then": "Outlook", "applications": "Effect"},
    "when.output": {"reason": "NoForecast", "without": "Without"},
    "dorm.output": {"queues": "QueueUse", "plan": "Step", "explanation": "Stop", "kinds": "KindPrice", "waiting": "Waiting", "suspended": "Waiting"},
}

# What is written by hand beside the fields.
MIXINS = {"Decision": "DecisionViews", "Result": "ResultViews"}


# What does not tell one type from another.
WORDS = {"description", "title", "$schema", "$defs", "default", "minimum", "maximum", "exclusiveMinimum", "minLength", "minItems"}


def camel(name: str) -> str:
    return "".join(part.capitalize() for part in name.split("_"))


def shape(schema: Any) -> Any:
    """The schema without its words and ranges: two definitions of one shape are one type."""
    if isinstance(schema, dict):
        return {k: shape(v) for k, v in schema.items() if k not in WORDS}
    return [shape(v) for v in schema] if isinstance(schema, list) else schema


class Types:
    """The types found so far, each behind those that it names."""

    def __init__(self) -> None:
        self.text: dict[str, str] = {}
        self.shapes: dict[str, Any] = {}
        self.lines: dict[str, list[str]] = {}

    def read(self, file: str, name: str) -> None:
        self.file, self.schema = file, json.loads((SCHEMAS / f"{file}.json").read_text())
        self.names = NAMES.get(file, {})
        if not name:
            found = [self.of(branch, self.name(branch)) for branch in self.schema["anyOf"]]
            self.lines[file] = [kind for kind in found if kind != "Any"]
        else:
            self.object(self.schema, name)

    def name(self, branch: dict[str, Any]) -> str:
        return self.names.get(next(iter(branch.get("properties", {"": 0}))), "")

    def of(self, schema: dict[str, Any], name: str) -> str:
        """The type of a schema; name is that of the field, for what has no name of its own."""
        if "$ref" in schema:
            file, _, path = schema["$ref"].partition("#/")
            if file:
                return self.elsewhere(file.removesuffix(".json"), path, name)
            part = path.rsplit("/", 1)[1]
            if part == "resources":
                return "Resources"
            found = self.schema["$defs"][part]
            return self.of(found, self.names.get(part, camel(part)))
        kind = schema.get("type", "")
        if kind == "object" and "properties" in schema:
            return self.object(schema, name)
        if kind == "object":
            return f"dict[str, {self.of(schema['additionalProperties'], name)}]"
        if kind == "array" and "items" in schema:
            return f"list[{self.of(schema['items'], name)}]"
        if "enum" in schema:
            return "str"
        if "anyOf" in schema or "oneOf" in schema:
            kinds = sorted({self.of(s, name) for s in schema.get("anyOf", schema.get("oneOf"))})
            return f"Union[{', '.join(kinds)}]" if len(kinds) > 1 else kinds[0]
        return {"integer": "int", "number": "float", "string": "str", "boolean": "bool", "null": "None"}.get(kind, "Any")

    def elsewhere(self, file: str, path: str, name: str) -> str:
        """The type of what another file defines: as a whole it has the name in ROOTS, and without one any JSON."""
        if not path:
            return dict(ROOTS).get(file, "Any")
        here = self.file, self.schema, self.names
        self.file, self.schema, self.names = file, json.loads((SCHEMAS / f"{file}.json").read_text()), NAMES.get(file, {})
        sort, part = path.split("/")
        found = self.of({"$ref": f"#/{path}"}, "") if sort == "$defs" else self.field(part, self.schema[sort][part])
        self.file, self.schema, self.names = here
        return found

    def field(self, field: str, schema: dict[str, Any], owner: str = "") -> str:
        """The type of a field, whose elements are called as it is."""
        single = field[:-1] if field.endswith("s") and schema.get("type") == "array" else field
        return self.of(schema, self.names.get(f"{owner}.{field}", self.names.get(field, camel(single))))

    def object(self, schema: dict[str, Any], name: str) -> str:
        if self.shapes.setdefault(name, shape(schema)) != shape(schema):
            raise SystemExit(f"{self.file}: two types are called {name}: give one a name in NAMES")
        if name in self.text:
            return name
        required = schema.get("required", [])
        rows = []
        for field, of in schema["properties"].items():
            rows.append((field, self.field(field, of, name), field in required, of))
        rows.sort(key=lambda row: not row[2])
        words = [schema.get("description", schema.get("title", name)).rstrip(".") + "."]
        for field, _, _, of in rows:
            text = of.get("description", "")
            if "enum" in of:
                text = f"{text} One of {', '.join(map(repr, of['enum']))}.".strip()
            if "default" in of:
                text = f"{text} Absent: {of['default']!r}.".strip()
            if text:
                words.append(f"{attribute(field)}: {text}")
        doc = "\n\n    ".join("\n    ".join(textwrap.wrap(w, 110, subsequent_indent="    " if n else "")) for n, w in enumerate(words))
        lines = [f"@dataclass\nclass {name}({MIXINS[name]}):" if name in MIXINS else f"@dataclass\nclass {name}:"]
        lines.append(f'    """{doc}' + ('"""' if len(words) == 1 else '\n    """'))
        for field, kind, needed, _ in rows:
            lines.append(f"    {attribute(field)}: {kind}" if needed else f"    {attribute(field)}: Optional[{kind}] = None")
        self.text[name] = "\n".join(lines)
        return name


def attribute(field: str) -> str:
    return field + "_" if keyword.iskeyword(field) else field


def generate() -> str:
    types = Types()
    for file, name in ROOTS:
        types.read(file, name)
    names = sorted(types.text)
    head = '''"""The types of what the library reads and writes. Made by generate.py from the schemas of the command: do not edit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Mapping, Optional, Sequence, Union

from ._views import DecisionViews, ResultViews

__all__ = [
''' + textwrap.fill(", ".join(f'"{n}"' for n in names), 120, initial_indent="    ", subsequent_indent="    ") + ''',
]

# One quantity for each kind in the order of kinds, or by the names of the kinds: those without one are 0.
Resources = Union[Sequence[int], Mapping[str, int]]
'''
    tail = "\n".join(f"{name} = ({', '.join(kinds)},)" for name, kinds in
                     ((file.upper().replace(".", "_"), kinds) for file, kinds in types.lines.items() if file.endswith("output")))
    return head + "\n\n" + "\n\n\n".join(types.text.values()) + "\n\n\n# The types of the lines that a stream answers with.\n" + tail + "\n"


if __name__ == "__main__":
    (pathlib.Path(__file__).parent / "src" / "apportion" / "_types.py").write_text(generate())
