"""What the README and the documentation show, works: each example of Python is run."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from cove._local import LocalServer

HERE = Path(__file__).resolve().parents[1]
PAGES = [HERE.parents[1] / "README.md", HERE / "README.md", HERE.parents[1] / "docs" / "sdk-python.md"]
EXAMPLES = [
    pytest.param(code, id=f"{page.parent.name}-{page.stem}-{number}")
    for page in PAGES
    for number, code in enumerate(re.findall(r"```python\n(.*?)```", page.read_text(), re.S), 1)
]


@pytest.mark.parametrize("code", EXAMPLES)
def test_example(code: str, server: LocalServer, tmp_path: Path) -> None:
    environment = {**os.environ, "COVE_URL": server.url, "COVE_KEY": server.key, "PYTHONPATH": str(HERE / "src")}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=240
    )
    assert done.returncode == 0, f"{code}\n---\n{done.stdout}{done.stderr}"
    for wanted in re.findall(r"# prints (.*)", code):
        assert wanted in done.stdout, f"{code}\n---\n{done.stdout}"
