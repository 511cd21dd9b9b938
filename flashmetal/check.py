"""`flashmetal check`: whether Metal sources compile, and which kernels they have."""

from __future__ import annotations

import dataclasses
import errno
import json
import os
import pathlib
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ._device import Device
from ._registry import KernelRegistry
from .compile_options import CompileOptions
from .errors import FlashMetalError, ShaderCompilationError, UnsupportedFeature
from .headers import Headers, expand, explain_missing

__all__ = [
    "FolderHeaders",
    "as_json",
    "as_text",
    "check_file",
    "read_constants",
    "read_macros",
    "unknown_constants",
]

# How the compiler calls the text that it is given.
MAIN = re.compile(r"^program_source(?=:)", re.MULTILINE)
# What it says of a kernel that needs function constants, and of each of them.
MISSING_CONSTANTS = re.compile(r"needs function constants that were given no value: (.*)")
CONSTANT = re.compile(r"'([^']+)' \(index (\d+)\)")


def read_macros(definitions: Sequence[str]) -> dict[str, str]:
    """Read NAME=VALUE or NAME, which is 1."""
    return {name: value or "1" for name, _, value in (text.partition("=") for text in definitions)}


def read_constants(settings: Sequence[str]) -> dict[int | str, Any]:
    """Read INDEX=VALUE or NAME=VALUE, of true, false, numbers or 1,2,3. Raises ValueError."""
    constants: dict[int | str, Any] = {}
    for setting in settings:
        key, _, text = setting.partition("=")
        values = [_read_value(part) for part in text.split(",")]
        constant = values[0] if len(values) == 1 else tuple(values)
        constants[key if key.isidentifier() else int(key)] = constant
    return constants


def _read_value(text: str) -> bool | int | float:
    if text in ("true", "false"):
        return text == "true"
    try:
        return int(text, 0)
    except ValueError:
        return float(text)


class FolderHeaders:
    """Headers in files: beside the file that includes them, for those in quotes, and in folders."""

    def __init__(self, folders: Sequence[str]) -> None:
        """Raise OSError for what is no folder that can be read."""
        for folder in folders:
            os.scandir(folder).close()
        self.folders = folders
        self.texts: dict[str, str | None] = {}

    def lookups(self, name: str, quoted: bool, includer: str) -> list[str]:
        """Return the paths that a compiler would try."""
        folders = [os.path.dirname(includer), *self.folders] if quoted else self.folders
        paths = [os.path.normpath(os.path.join(folder, name)) for folder in folders]
        return list(dict.fromkeys(paths))

    def read(self, place: str) -> str | None:
        """Return the text of a file; None when there is none. Raises OSError."""
        if place not in self.texts:
            self.texts[place] = _read_text(place) if os.path.isfile(place) else None
        return self.texts[place]


def _read_text(path: str | pathlib.Path) -> str:
    try:
        return pathlib.Path(path).read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise OSError(errno.EILSEQ, f"it is not UTF-8 text: {error}", str(path)) from error


def check_file(
    path: str,
    device: Device,
    *,
    macros: Mapping[str, str],
    constants: Mapping[int | str, Any],
    headers: Headers,
) -> dict[str, Any]:
    """Compile every kernel of a file; return what there is to say of it, ready for JSON.

    `errors` holds the compiler's text, with the file's own name; `kernels` those that compile, or
    that would with values for their `missing_constants`; `constants` what the file declares. Of the
    given ones it takes those.
    """
    text = _read_text(path)
    source = expand(text, headers, path)
    registry = KernelRegistry(device)
    options = CompileOptions(macros=dict(macros))
    report: dict[str, Any] = {"file": path, "errors": [], "kernels": [], "constants": []}
    # A path may hold what no kernel's name can.
    registry.register_source("program_source", source, options=options)
    try:
        names = registry.kernel_names("program_source")
    except (ShaderCompilationError, UnsupportedFeature) as error:
        message = explain_missing(_message(error), text, headers, path)
        report["errors"].append(_in_file(message, path))
        return report
    declared = registry.function_constants("program_source")
    report["constants"] = [dataclasses.asdict(constant) for constant in declared]
    known = {key for constant in declared for key in (constant.index, constant.name)}
    constants = {key: value for key, value in constants.items() if key in known}
    for name in names:
        registry.register_source(name, source, options=options)
        _check_kernel(report, registry, name, constants)
    return report


def _check_kernel(
    report: dict[str, Any],
    registry: KernelRegistry,
    name: str,
    constants: Mapping[int | str, Any],
) -> None:
    kernel: dict[str, Any] = {"name": name, "missing_constants": []}
    try:
        pipeline = registry.get_pipeline(name, dict(constants))
    except (ShaderCompilationError, UnsupportedFeature) as error:
        missing = MISSING_CONSTANTS.search(str(error))
        if missing is None:
            report["errors"].append(_in_file(_message(error), report["file"]))
            return
        kernel["missing_constants"] = [
            {"name": found[0], "index": int(found[1])} for found in CONSTANT.findall(missing[1])
        ]
    else:
        kernel["arguments"] = [dataclasses.asdict(argument) for argument in pipeline.arguments]
        kernel["threadgroup_memory"] = pipeline.static_threadgroup_memory
        kernel["max_threads"] = pipeline.max_threads
    report["kernels"].append(kernel)


def unknown_constants(
    reports: Sequence[Mapping[str, Any]], constants: Iterable[int | str]
) -> list[int | str]:
    """Return those that no file declares, as far as the files compile."""
    if any(report["errors"] for report in reports):
        return []
    declared = [constant for report in reports for constant in report["constants"]]
    known = {key for constant in declared for key in (constant["index"], constant["name"])}
    return [key for key in constants if key not in known]


def _message(error: FlashMetalError) -> str:
    return getattr(error, "message", str(error))


def _in_file(message: str, path: str) -> str:
    return MAIN.sub(lambda _: path, message).rstrip("\n")


def as_text(reports: Sequence[Mapping[str, Any]]) -> str:
    """Return the reports as clang would print them, and a table of the kernels."""
    lines: list[str] = []
    for report in reports:
        lines += report["errors"]
        if not report["errors"] and not report["kernels"]:
            lines.append(f"{report['file']}: no kernels")
        for kernel in report["kernels"]:
            lines += _kernel_lines(report["file"], kernel)
    return "\n".join(lines)


def _kernel_lines(file: str, kernel: Mapping[str, Any]) -> list[str]:
    head = f"{file}: kernel {kernel['name']}"
    if kernel["missing_constants"]:
        wanted = ", ".join(
            f"{c['name']} (--constant {c['name']}=VALUE, or {c['index']}=VALUE)"
            for c in kernel["missing_constants"]
        )
        return [f"{head}: compiles only with values for {wanted}"]
    memory = kernel["threadgroup_memory"]
    rows = [f"{head}: {kernel['max_threads']} threads, {memory} bytes of threadgroup memory"]
    for argument in kernel["arguments"]:
        rows.append(
            f"    {argument['kind']}({argument['index']}) {argument['name'] or ''}: "
            f"{argument['access']}" + (f", {argument['size']} bytes" if argument["size"] else "")
        )
    return rows


def as_json(reports: Sequence[Mapping[str, Any]]) -> str:
    """Return one JSON object."""
    passed = not any(report["errors"] for report in reports)
    return json.dumps({"passed": passed, "files": list(reports)})
