"""Turns the text of a shipped shader into CUDA for NVRTC, by substitutions and by headers.

Everything lies in namespace msl, where the headers beside this file stand for Metal's. Functions
need no `__device__` under NVRTC's option --device-as-default-execution-space.
"""

from __future__ import annotations

import pathlib
import re
from typing import NamedTuple

__all__ = ["Translation", "translate"]

HEADERS = ("metal_stdlib.cuh", "metal_simdgroup_matrix.cuh", "metal_tensor.cuh")

# Attributes of arguments that say where a thread is.
POSITIONS = {
    "threadgroup_position_in_grid": {"uint": "blockIdx.x", "uint3": "uint3(blockIdx)"},
    "threadgroups_per_grid": {"uint": "gridDim.x", "uint3": "uint3(gridDim)"},
    "thread_index_in_threadgroup": {"uint": "linear_thread_index()"},
    "thread_index_in_simdgroup": {"uint": "linear_thread_index() % 32"},
    "simdgroup_index_in_threadgroup": {"uint": "linear_thread_index() / 32"},
}

KERNEL = re.compile(
    r"\[\[kernel, max_total_threads_per_threadgroup\((?P<threads>\w+)\)\]\]\s*void\s+"
    r"(?P<name>\w+)\((?P<arguments>.*?)\)\s*\{",
    re.DOTALL,
)
INSTANCE = re.compile(
    r'^template \[\[host_name\("(?P<name>\w+)"\)\]\] \[\[kernel\]\] \w+ (?P<kernel>\w+<.*>);\n',
    re.MULTILINE,
)
ARGUMENT = re.compile(r"(?P<type>.*?)(?P<name>\w+) \[\[(?P<attribute>\w+)(?:\(\d+\))?\]\]")
CONSTANT = re.compile(r"constant int (\w+) \[\[function_constant\((\d+)\)\]\];")

SUBSTITUTIONS = (
    (r"//[^\n]*", ""),
    (r"#include[^\n]*\n|using namespace [\w:]+;\n|using \w+ = decltype\(\w+<.*>\);\n", ""),
    (r"\bconstant constexpr\b", "constexpr"),
    (r"\b(\d+\.\d+)h\b", r"half(\1f)"),
)
# After all others: of pointers, references and template arguments.
ADDRESS_SPACES = (
    (r"^(\s+)threadgroup (\w+ \w+\[)", r"\1__shared__ \2"),
    (r"\bconstant (\w+) &", r"const \1 &"),
    (r"\b(?:device|threadgroup|thread) (?=[\w:])", ""),
)


class Translation(NamedTuple):
    """A shader as CUDA.

    Parameters
    ----------
    text
        For NVRTC, in C++20.
    kernels
        C++ expressions of the entry points by their names in Metal.
    """

    text: str
    kernels: dict[str, str]


def translate(shader: str, constants: dict[int, int] | None = None) -> Translation:
    """Translate the text of a shader.

    Parameters
    ----------
    shader
        MSL.
    constants
        Values of function constants by index.

    Raises
    ------
    ValueError
        Something of MSL is left over, which it names.
    """
    values = constants or {}
    text = shader
    for pattern, replacement in SUBSTITUTIONS:
        text = re.sub(pattern, replacement, text)
    kernels = {
        match["name"]: re.sub(r"\b(?=[a-z])", "msl::", match["kernel"])
        for match in INSTANCE.finditer(text)
    }
    text = INSTANCE.sub("", text)
    text = CONSTANT.sub(lambda match: f"constexpr int {match[1]} = {values[int(match[2])]};", text)
    text = KERNEL.sub(_head, text)
    for pattern, replacement in ADDRESS_SPACES:
        text = re.sub(pattern, replacement, text, flags=re.MULTILINE)
    left = re.search(r"\[\[.*?\]\]|\b(?:constant|device|threadgroup|thread)\b.*", text)
    if left:
        raise ValueError(f"not translated: {left[0]}")
    folder = pathlib.Path(__file__).parent
    headers = "".join((folder / name).read_text(encoding="utf-8") for name in HEADERS)
    includes = "#include <cuda_bf16.h>\n#include <cuda_fp16.h>\n"
    return Translation(f"{includes}namespace msl {{\n{headers}{text}}}\n", kernels)


def _head(match: re.Match[str]) -> str:
    arguments, locals_ = [], []
    for text in re.split(r",\s*(?![^<]*>)", match["arguments"]):
        argument = ARGUMENT.fullmatch(text.strip())
        if argument is None:
            raise ValueError(f"{match['name']}: no attribute: {text.strip()}")
        declared, name = argument["type"].strip(), argument["name"]
        if argument["attribute"] == "buffer" and declared.endswith("&"):
            # Memory holds it, for a struct by value has other rules on either side.
            struct = declared.split()[1]
            arguments.append(f"const {struct} *{name}_memory")
            locals_.append(f"const {struct} &{name} = *{name}_memory;")
        elif argument["attribute"] == "buffer":
            arguments.append(declared + name)
        elif argument["attribute"] == "threadgroup":
            locals_.append("extern __shared__ uint4 threadgroup_memory[];")
            locals_.append(f"auto {name} = ({declared})threadgroup_memory;")
        else:
            locals_.append(
                f"const {declared} {name} = {POSITIONS[argument['attribute']][declared]};"
            )
    head = f"__global__ void __launch_bounds__({match['threads']}) {match['name']}"
    return f"{head}({', '.join(arguments)}) {{\n" + "\n".join(locals_)
