"""Times tensor prefill attention on the SIMT engine against the machine's multiply-and-add peak.

    python tools/bench/simt_prefill.py BUILD_FOLDER [--source FILE]

BUILD_FOLDER is a folder that `meson setup` made. One thread; both in one process, in turns.
"""

import argparse
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
SHADER = ROOT / "shaders" / "flash_attn_prefill_tensor.metal"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path, help="folder that meson setup made")
    parser.add_argument("--source", type=pathlib.Path, default=SHADER, help="another shader")
    options = parser.parse_args()
    subprocess.run(["meson", "compile", "-C", options.build, "simt_prefill"], check=True)
    program = options.build / "bridge" / "host" / "simt" / "simt_prefill"
    return subprocess.run([program, options.source], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
