"""Writes `src/cove/models.py` from the server's OpenAPI document: a dataclass for each thing that is answered.

    python scripts/write_models.py           writes it
    python scripts/write_models.py --check   says whether it is as the document wants it (exit code 1: no)

Only what can be answered is written: requests are the arguments of methods, and a test holds those to the document.
"""

from __future__ import annotations

import json
import keyword
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
DOCUMENT = HERE.parents[2] / "docs" / "openapi.json"
TARGET = HERE.parent / "src" / "cove" / "models.py"
#: Sent as an event's data, so that no answer's schema leads to it.
ALSO = ("Event", "ProcessFrame", "WatchFrame")
SCHEMAS = "#/components/schemas/"

HEADER = '''"""What the server answers.

Written by scripts/write_models.py from docs/openapi.json; a change here is lost.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal
'''


def references(node: Any) -> set[str]:
    """Everything of the document that is named somewhere below: `#/components/schemas/Event`, …"""
    if isinstance(node, dict):
        named = {node["$ref"]} if isinstance(node.get("$ref"), str) else set()
        return named.union(*(references(value) for value in node.values()))
    if isinstance(node, list):
        return set().union(*(references(value) for value in node))
    return set()


def answered(document: dict[str, Any]) -> list[str]:
    """Schemas that an answer leads to, in the order of their names."""
    operations = [operation for path in document["paths"].values() for operation in path.values()]
    found: set[str] = set()
    ahead = references([one.get("responses") for one in operations if isinstance(one, dict)])
    ahead |= {SCHEMAS + name for name in ALSO}
    while ahead:
        reference = ahead.pop()
        if reference not in found:
            found.add(reference)
            node = document
            for step in reference.removeprefix("#/").split("/"):
                node = node[step]
            ahead |= references(node)
    return sorted(one.removeprefix(SCHEMAS) for one in found if one.startswith(SCHEMAS))


def python_type(schema: dict[str, Any], schemas: dict[str, Any]) -> str:
    """The type of one field."""
    if "$ref" in schema:
        name = schema["$ref"].rsplit("/", 1)[1]
        target = schemas[name]
        if target.get("format") == "date-time":
            return "datetime"
        return name if target.keys() & {"properties", "enum", "allOf"} else python_type(target, schemas)
    for several in ("oneOf", "anyOf"):
        if several in schema:
            parts = [python_type(one, schemas) for one in schema[several]]
            return " | ".join(dict.fromkeys(sorted(parts, key=lambda part: part == "None")))
    kinds = schema.get("type")
    if isinstance(kinds, list):
        parts = [python_type({**schema, "type": kind}, schemas) for kind in kinds]
        return " | ".join(sorted(parts, key=lambda part: part == "None"))
    if schema.get("format") == "date-time":
        return "datetime"
    if kinds == "array":
        return f"list[{python_type(schema.get('items', {}), schemas)}]"
    return {
        "string": "str",
        "integer": "int",
        "number": "float",
        "boolean": "bool",
        "null": "None",
        "object": "dict[str, Any]",
    }.get(str(kinds), "Any")


def said(text: str, indent: str, mark: str = "#: ") -> str:
    """A description as comment lines."""
    return "".join(f"{indent}{mark}{line}".rstrip() + "\n" for line in text.strip().splitlines())


def merged(schema: dict[str, Any], schemas: dict[str, Any]) -> dict[str, Any]:
    """One schema of several that all hold. What may be null of them may be missing, with all that is in it."""
    whole: dict[str, Any] = {"properties": {}, "required": [], **schema}
    for part in whole.pop("allOf", []):
        choices = [one for one in part.get("oneOf", [part]) if one.get("type") != "null"]
        for choice in choices:
            found = schemas[choice["$ref"].rsplit("/", 1)[1]] if "$ref" in choice else choice
            inner = merged(found, schemas)
            whole["properties"] = {**whole["properties"], **inner["properties"]}
            if choices == [part]:
                whole["required"] = [*whole["required"], *inner["required"]]
            whole.setdefault("description", part.get("description", ""))
    return whole


def write(document: dict[str, Any]) -> str:
    """The whole module."""
    schemas = document["components"]["schemas"]
    out = [HEADER]
    for name in answered(document):
        schema = merged(schemas[name], schemas) if "allOf" in schemas[name] else schemas[name]
        about = schema.get("description", "").strip()
        if "enum" in schema:
            values = ", ".join(json.dumps(value) for value in schema["enum"])
            out.append(f"\n{said(about, '')}{name} = Literal[{values}]\n")
        elif "properties" in schema:
            out.append(f'\n\n@dataclass(frozen=True, kw_only=True)\nclass {name}:\n    """{about or name}"""\n')
            required = set(schema.get("required", []))
            for field, inner in schema["properties"].items():
                kind = python_type(inner, schemas)
                if field not in required and "None" not in kind.split(" | ") and kind != "Any":
                    kind += " | None"
                default = "" if field in required else " = None"
                description = inner.get("description") or next(
                    (one["description"] for one in inner.get("oneOf", []) if "description" in one), ""
                )
                named = field + "_" if keyword.iskeyword(field) else field
                out.append(f"\n{said(description, '    ')}    {named}: {kind}{default}\n")
    return "".join(out)


def main() -> int:
    text = write(json.loads(DOCUMENT.read_text()))
    if "--check" in sys.argv[1:]:
        if TARGET.read_text() == text:
            return 0
        print(
            f"{TARGET.name} is not what docs/openapi.json says; run sdk/python/scripts/write_models.py", file=sys.stderr
        )
        return 1
    TARGET.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
