"""Times how long a kernel's text takes to become a pipeline: compiled, and found in the cache.

    python tools/bench/kernel_compile.py [--rounds N] [--clang COMMAND]

The floor is the compiler on an empty C++ text, compiled and linked to a shared object. All
three are interleaved in one process; the cache is a folder of its own.
"""

import argparse
import pathlib
import statistics
import subprocess
import tempfile
import time

import flashmetal as fm
from flashmetal import _host, resources

KERNEL = "flash_attention_hd128"


def pipeline(device, text):
    """A registry of its own each time, so that nothing is remembered in the process."""
    registry = fm.KernelRegistry(device)
    registry.register_source(KERNEL, text)
    return registry.get_pipeline(KERNEL)


def compile_nothing(compiler, folder):
    source = pathlib.Path(folder) / "empty.cpp"
    source.write_text("")
    command = [compiler, "-O3", "-fPIC", "-shared", "-nostdlib", "-fuse-ld=lld"]
    subprocess.run([*command, source, "-o", source.with_suffix(".so")], check=True)


def seconds(function, *arguments):
    start = time.perf_counter()
    function(*arguments)
    return time.perf_counter() - start


def measure(rounds, compiler, folder):
    """Return {what: [seconds of each round]}."""
    device = fm.Device(engine="simt")
    _host.set_cache(folder)
    shipped = resources.shader("flash_attention").read_text(encoding="utf-8")
    times = {"floor: compiler on an empty text": [], "compiled": [], "found in the cache": []}
    for number in range(rounds):
        # A text that is not the shipped one, and new in every round.
        text = f"{shipped}\n// {number}\n"
        for key, sample in zip(
            times,
            (
                seconds(compile_nothing, compiler, folder),
                seconds(pipeline, device, text),
                seconds(pipeline, device, text),
            ),
            strict=True,
        ):
            times[key].append(sample)
    return times


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--clang", default="clang++-19", help="the compiler of the floor")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        times = measure(options.rounds, options.clang, folder)
    floor = min(next(iter(times.values())))
    print(f"{'':<34}{'min ms':>9}{'median ms':>11}{'min ÷ floor':>13}")
    for what, samples in times.items():
        least, middle = min(samples), statistics.median(samples)
        print(f"{what:<34}{1e3 * least:>9.2f}{1e3 * middle:>11.2f}{least / floor:>13.3f}")


if __name__ == "__main__":
    main()
