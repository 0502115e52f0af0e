"""What a server of its own is to be like, said by the program that starts it."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Config:
    """For `Cove(config=…)`. What is not said is as with `cove serve` (see `docs/configuration.md`).

    `profiles` are written as in a configuration file: `{"id": "python-data", "resources": {"memory": "2g"}}`. One
    with the id of a built-in profile replaces it. `allow_hosts` opens hosts to every profile without a network of its
    own, `allow_private` loopback or private addresses for them. `python` is a Python environment for sandboxes, a
    folder with `bin/python3`. With a `data_dir`, sandboxes and files stay when the program ends, for the next one that
    names it. `file` is a configuration file for everything else.
    """

    profiles: Sequence[Mapping[str, Any]] = ()
    allow_hosts: Sequence[str] = ()
    allow_private: Sequence[str] = ()
    python: str | os.PathLike[str] | None = None
    data_dir: str | os.PathLike[str] | None = None
    file: str | os.PathLike[str] | None = None

    def arguments(self) -> list[str]:
        """For `cove serve`, which starts in another folder."""
        options = [("--data-dir", self.data_dir), ("--config", self.file)]
        words = [word for name, path in options if path is not None for word in (name, os.path.abspath(path))]
        for name, values in (("--allow-host", self.allow_hosts), ("--allow-private", self.allow_private)):
            words += [word for value in values for word in (name, value)]
        return words

    def environment(self) -> dict[str, str]:
        """For `cove serve` as well."""
        variables = {}
        if self.profiles:
            variables["BAY_PROFILES"] = json.dumps([dict(profile) for profile in self.profiles])
        if self.python is not None:
            variables["BAY_DRIVER__LOCAL__PYTHON"] = os.path.abspath(self.python)
        return variables
