"""Holds what is sent and answered to the OpenAPI document."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import httpx
from jsonschema import Draft202012Validator
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT202012

HERE = "urn:cove"


class Recorder(httpx.BaseTransport):
    """httpx's own transport, with a look at everything that passes. Keeps what was sent, by operation."""

    def __init__(self, document: Path) -> None:
        self._inner = httpx.HTTPTransport()
        self.document: dict[str, Any] = json.loads(document.read_text())
        resource: Resource[Any] = Resource.from_contents(self.document, default_specification=DRAFT202012)
        self._registry: Registry[Any] = Registry().with_resource(HERE, resource)
        self.seen: dict[str, set[str]] = {}
        #: JSON bodies' and queries' fields that were sent, by operation.
        self.fields: dict[str, set[str]] = {}
        self._operations = [
            (method.upper(), re.compile(re.sub(r"\{[^}]+\}", "[^/]+", path)), operation)
            for path, methods in self.document["paths"].items()
            for method, operation in methods.items()
        ]

    def operation(self, method: str, path: str) -> dict[str, Any]:
        """What the document calls this. A path of fixed words comes before one with a name in it."""
        found = [(p, o) for m, p, o in self._operations if m == method and p.fullmatch(path)]
        assert found, f"{method} {path} is not in the document"
        operation: dict[str, Any] = min(found, key=lambda one: one[0].pattern.count("[^/]+"))[1]
        return operation

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        operation = self.operation(request.method, request.url.path)
        name = operation["operationId"]
        fields = self.fields.setdefault(name, set())
        queries = {one["name"] for one in operation.get("parameters", []) if one["in"] == "query"}
        unknown = set(request.url.params) - queries
        assert not unknown, f"{name}: the document knows no {unknown} in the query"
        fields |= set(request.url.params)
        if request.headers.get("content-type") == "application/json":
            sent = json.loads(request.read())
            schema = operation["requestBody"]["content"]["application/json"]["schema"]
            self._hold(f"{name}, sent", sent, schema)
            known = self._properties(schema)
            assert known is None or set(sent) <= known, f"{name}: the document knows no {set(sent) - (known or set())}"
            fields |= set(sent)
        response = self._inner.handle_request(request)
        self.seen.setdefault(name, set()).add(str(response.status_code))
        self._hold_answer(name, operation, response)
        return response

    def _hold_answer(self, name: str, operation: dict[str, Any], response: httpx.Response) -> None:
        described = operation["responses"].get(str(response.status_code))
        assert described is not None, f"{name}: {response.status_code} is not in the document"
        if "$ref" in described:
            described = self.document["components"]["responses"][described["$ref"].rsplit("/", 1)[1]]
        content = described.get("content", {})
        if response.headers.get("content-type", "").startswith("application/json") and "application/json" in content:
            response.read()
            self._hold(f"{name}, answered", response.json(), content["application/json"]["schema"])

    def _hold(self, where: str, value: Any, schema: dict[str, Any]) -> None:
        absolute = json.loads(json.dumps(schema).replace('"#/', f'"{HERE}#/'))
        problems = [
            f"{list(one.absolute_path)}: {one.message}"
            for one in Draft202012Validator(absolute, registry=self._registry).iter_errors(value)
        ]
        assert not problems, f"{where}: {problems}"

    def _properties(self, schema: dict[str, Any]) -> set[str] | None:
        if "$ref" in schema:
            schema = self.document["components"]["schemas"][schema["$ref"].rsplit("/", 1)[1]]
        return set(schema["properties"]) if "properties" in schema else None

    def wanted(self, operation: dict[str, Any]) -> set[str]:
        """All fields that an operation takes."""
        wanted = {one["name"] for one in operation.get("parameters", []) if one["in"] == "query"}
        body = operation.get("requestBody", {}).get("content", {}).get("application/json")
        return wanted | ((self._properties(body["schema"]) or set()) if body else set())

    def close(self) -> None:
        self._inner.close()
