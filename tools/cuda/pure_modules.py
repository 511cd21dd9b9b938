"""Imports modules of flashmetal that are all Python, on a machine where its core is not built."""

from __future__ import annotations

import importlib
import pathlib
import sys
import types

__all__ = ["load"]


def load(*names: str) -> list[types.ModuleType]:
    """Import modules of the package from its source folder, without the package's own imports."""
    package = types.ModuleType("flashmetal")
    package.__path__ = [str(pathlib.Path(__file__).parents[2] / "flashmetal")]
    sys.modules.setdefault("flashmetal", package)
    return [importlib.import_module(f"flashmetal.{name}") for name in names]
