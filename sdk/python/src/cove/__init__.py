"""Cove: a sheltered place for the code that AI agents write.

    from cove import Cove

    with Cove() as cove, cove.sandbox() as sandbox:
        print(sandbox.python.exec("1 + 1").output)

`AsyncCove` is the same for programs that await.
"""

from cove import errors, models
from cove._async.client import AsyncCove
from cove._async.javascript import AsyncJavaScriptSession
from cove._async.sandbox import AsyncSandbox
from cove._config import Config
from cove._sync.client import Cove
from cove._sync.javascript import JavaScriptSession
from cove._sync.sandbox import Sandbox
from cove.errors import ApiError, CoveError, RunFailedError
from cove.image import Image
from cove.results import (
    BrowserBatch,
    BrowserReplay,
    BrowserRun,
    FileAnswer,
    JavaScriptRun,
    Output,
    PythonRun,
    Screenshot,
    ShellRun,
)

__version__ = "0.1.0"

__all__ = [
    "ApiError",
    "AsyncCove",
    "AsyncJavaScriptSession",
    "AsyncSandbox",
    "BrowserBatch",
    "BrowserReplay",
    "BrowserRun",
    "Config",
    "Cove",
    "CoveError",
    "FileAnswer",
    "Image",
    "JavaScriptRun",
    "JavaScriptSession",
    "Output",
    "PythonRun",
    "RunFailedError",
    "Sandbox",
    "Screenshot",
    "ShellRun",
    "errors",
    "models",
]
