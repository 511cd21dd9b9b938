"""Times the SIMT engine per tile of decode attention, beside another engine when one is named.

    python tools/bench/simt_tile.py BUILD_FOLDER [--baseline FOLDER]

BUILD_FOLDER is a folder that `meson setup` made. The baseline's folder holds `mslc.py`, which
compiles Metal source for it, and `metal_cpu.py`, which builds its runtime.
"""

import argparse
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
SOURCES = ("shaders/flash_attention.metal", "tools/bench/simt_micro.metal")


def build_baseline(folder, scratch, source):
    """Compile the kernels for the baseline, in a copy of it, and return the program's arguments."""
    copy = scratch / "baseline"
    shutil.copytree(folder, copy)
    sys.path.insert(0, str(copy))
    import metal_cpu
    import mslc

    metal_cpu.runtime()
    kernels, symbols = mslc.build(source.read_text())
    return [mslc.BUILD / "libmslrt.so", kernels, *(f"{k}={v}" for k, v in symbols.items())]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path, help="folder that meson setup made")
    parser.add_argument("--baseline", type=pathlib.Path, help="folder of the engine beside")
    options = parser.parse_args()
    subprocess.run(["meson", "compile", "-C", options.build, "simt_tile"], check=True)
    with tempfile.TemporaryDirectory() as name:
        scratch = pathlib.Path(name)
        source = scratch / "kernels.metal"
        source.write_text("".join((ROOT / path).read_text() for path in SOURCES))
        program = options.build / "bridge" / "host" / "simt" / "simt_tile"
        command = [program, source]
        if options.baseline:
            command += build_baseline(options.baseline, scratch, source)
        return subprocess.run(command, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
