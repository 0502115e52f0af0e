"""Every route that the SDK's own generated client knows is answered here: with success, or with a code and a sentence. Run by
scripts/test-e2b with each version of the SDK, so that a route which a new version brings is seen.
"""

import importlib
import inspect
import os
import pathlib

import httpx

import e2b.api.client.api as api

KEY = {"X-API-KEY": os.environ["E2B_API_KEY"]}


class Empty:
    """A body that says nothing."""

    def to_dict(self):
        return {}


def routes():
    """Method and path of everything that the generated client can ask."""
    root = pathlib.Path(api.__file__).parent
    for file in sorted(root.glob("*/*.py")):
        if file.name == "__init__.py":
            continue
        module = importlib.import_module(f"{api.__name__}.{file.parent.name}.{file.stem}")
        words = {}
        for name, parameter in inspect.signature(module._get_kwargs).parameters.items():
            if name == "body":
                words[name] = Empty()
            elif parameter.default is inspect.Parameter.empty:
                words[name] = ["a"] if "list" in str(parameter.annotation).lower() else "sandbox-000000000000"
        yield file.stem, module._get_kwargs(**words)


def main():
    seen, wrong = 0, []
    with httpx.Client(headers=KEY, timeout=60) as client:
        for name, asked in routes():
            url = os.environ["E2B_API_URL"] + asked["url"]
            words = {key: value for key, value in asked.items() if key in ("params", "json", "headers")}
            answer = client.request(asked["method"], url, **words)
            seen += 1
            said = answer.json().get("message", "") if answer.status_code >= 400 else "done"
            is_sentence = isinstance(said, str) and len(said) > 3 and "there is no endpoint" not in said
            # What this version knows must be known here by name: not only caught by the door's last word.
            if not is_sentence or answer.status_code in (405, 500) or "of E2B's interface" in said:
                wrong.append(f"{name}: {asked['method']} {asked['url']} answers {answer.status_code}: {answer.text[:200]}")
            if "sandbox_id" in name and answer.status_code < 400:
                wrong.append(f"{name}: {answer.status_code} for a sandbox that is not there")
    print(f"e2b's generated client: {seen - len(wrong)} of {seen} routes hold")
    for line in wrong:
        print(f"FAILED {line}")
    raise SystemExit(1 if wrong or not seen else 0)


main()
