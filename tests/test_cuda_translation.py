"""tools/cuda: every shipped shader becomes CUDA, or what is left over of it is named."""

import ctypes
import importlib.util
import pathlib
import re
import sys

import pytest

ROOT = pathlib.Path(__file__).parent.parent
SHADERS = sorted((ROOT / "shaders").glob("*.metal"))
CONSTANTS = {400: 32, 401: 64}


@pytest.fixture(scope="module")
def translate():
    path = ROOT / "tools" / "cuda" / "translate.py"
    spec = importlib.util.spec_from_file_location("cuda_translate", path)
    module = importlib.util.module_from_spec(spec)
    # typing.NamedTuple looks its module up.
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    yield module.translate
    del sys.modules[spec.name]


@pytest.mark.parametrize("path", SHADERS, ids=lambda path: path.stem)
def test_every_entry_point_is_translated(translate, path):
    text = path.read_text(encoding="utf-8")
    translation = translate(text, CONSTANTS)
    assert set(translation.kernels) == set(re.findall(r'host_name\("(\w+)"\)', text))
    assert translation.text.count("__global__ void") == 1
    assert translation.text.count("threadgroup_barrier(mem_flags::") == text.count(
        "threadgroup_barrier(mem_flags::"
    )


def test_function_constants_become_numbers(translate):
    text = (ROOT / "shaders" / "flash_attn_prefill_blk.metal").read_text(encoding="utf-8")
    assert "constexpr int BQ = 16;" in translate(text, {400: 16, 401: 64}).text


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("void f(device float *x [[buffer(0)]]) {}", r"\[\[buffer\(0\)\]\]"),
        ("thread auto x = 1;\nconstant(3)", r"constant\(3\)"),
    ],
)
def test_what_is_left_of_msl_is_named(translate, text, left):
    with pytest.raises(ValueError, match=f"not translated: {left}"):
        translate(text)


@pytest.mark.parametrize("path", SHADERS, ids=lambda path: path.stem)
def test_cudas_compiler_takes_the_text(translate, path):
    package = pytest.importorskip("nvidia.cuda_nvrtc", reason="needs NVRTC").__path__[0]
    headers = pytest.importorskip("nvidia.cuda_runtime", reason="needs CUDA's headers").__path__[0]
    compiler = ctypes.CDLL(str(next(pathlib.Path(package, "lib").glob("libnvrtc.so*"))))
    text, kernels = translate(path.read_text(encoding="utf-8"), CONSTANTS)
    program = ctypes.c_void_p()
    compiler.nvrtcCreateProgram(ctypes.byref(program), text.encode(), b"shader", 0, None, None)
    for expression in kernels.values():
        assert compiler.nvrtcAddNameExpression(program, expression.encode()) == 0
    options = [
        b"-std=c++20",
        b"--device-as-default-execution-space",
        b"-I%s/include" % headers.encode(),
    ]
    status = compiler.nvrtcCompileProgram(
        program, len(options), (ctypes.c_char_p * len(options))(*options)
    )
    log = ctypes.create_string_buffer(1 << 16)
    compiler.nvrtcGetProgramLog(program, log)
    compiler.nvrtcDestroyProgram(ctypes.byref(program))
    assert status == 0, log.value.decode()
