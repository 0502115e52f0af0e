"""A real browser in a real sandbox."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from cove import Cove, Sandbox
from cove._local import LocalServer

PAGE = (
    "data:text/html,<title>Harbour</title><form onsubmit='document.title=mail.value;return false'>"
    "<input type=email id=mail aria-label=Email><input type=password aria-label=Password><button>Login</button></form>"
)


def refs(text: str) -> list[str]:
    """References in a snapshot, in their order."""
    return ["@" + word.strip("[],").removeprefix("ref=") for word in text.split() if word.startswith("[ref=")]


def test_by_step(browser_sandbox: Sandbox) -> None:
    browser = browser_sandbox.browser
    browser.navigate(PAGE).check()
    shown = browser.snapshot().check()
    mail, _, button = refs(shown.output)
    browser.fill(mail, 'o\'hara "quoted" $HOME').check()
    browser.click(button).check()
    assert browser.exec("get title").check().stdout.strip()
    assert 'o\'hara "quoted" $HOME' in browser.exec(f"get value {mail}").check().output
    picture = browser.screenshot("page.png", full_page=True).check()
    assert picture.image is not None and picture.image.data.startswith(b"\x89PNG")
    assert picture._repr_png_() == picture.image.data and picture.path == "page.png"
    assert browser.screenshot().check().image is not None


def test_several_at_once(browser_sandbox: Sandbox) -> None:
    batch = browser_sandbox.browser.batch([f'open "{PAGE}"', "get title", "no-such-command", "get title"])
    assert not batch.success and batch.completed_steps < 4 and "Harbour" in batch.results[1].stdout
    going_on = browser_sandbox.browser.batch(["no-such-command", "get title"], stop_on_error=False)
    assert going_on.completed_steps == 2


def test_what_a_browser_refuses_is_a_value(browser_sandbox: Sandbox) -> None:
    run = browser_sandbox.browser.exec("open file:///etc/passwd")
    assert not run.success and run.error


#: The seed's example of §6.1, but for the page: there is no network here.
SEED = """
from shipyard_neo import ShipyardClient

client = ShipyardClient()
sandbox = client.sandboxes.create(profile="browser-python")
result = client.browser.exec(sandbox.id, "open PAGE")
result = client.browser.exec(sandbox.id, "snapshot -i")
client.browser.exec(sandbox.id, "fill @e1 'user@example.com'")
client.browser.exec(sandbox.id, "fill @e2 'password123'")
client.browser.exec(sandbox.id, "click @e3")
client.browser.exec(sandbox.id, "wait --load networkidle")
client.browser.exec(sandbox.id, "screenshot /workspace/result.png")
said = client.python.exec(sandbox.id, '''
from PIL import Image
img = Image.open('/workspace/result.png')
print(f"Screenshot size: {img.size}")
''')
"""


@pytest.mark.parametrize("how", ["alias", "module"])
def test_the_seeds_example_works_as_written(cove: Cove, server: LocalServer, how: str) -> None:
    here = Path(__file__).resolve().parents[1]
    code = SEED.replace(
        "PAGE", PAGE.replace("'", "").replace("return false", "event.preventDefault()").replace(" ", "%20")
    )
    if how == "module":
        code = code.replace("from shipyard_neo", "from cove.compat.shipyard_neo")
    code += textwrap.dedent("""
        assert "Email" in result.stdout, result
        title = client.browser.exec(sandbox.id, "get title").stdout
        print(title, said.output, said.error)
        client.sandboxes.delete(sandbox.id)
    """)
    environment = {
        "PATH": "/usr/bin:/bin",
        "COVE_URL": server.url,
        "COVE_KEY": server.key,
        "PYTHONPATH": f"{here / 'src'}:{here / 'alias'}",
    }
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr
    assert "user@example.com" in done.stdout, done.stdout
    assert "Screenshot size: (1280, 720)" in done.stdout, done.stdout
