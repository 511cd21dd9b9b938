"""Times the hot path beside its floors and peers, and says how the ratios stand to their goals.

python tools/bench/dispatch/hot_path.py [--rounds N]
"""

from __future__ import annotations

import argparse
import pathlib
import tempfile

import packing
import plan_encode
import python_calls
import step_encode
from decoding import Decoding
from timing import measure

# What, beside what, and the ratio of the minima that is wanted at most.
GOALS = [
    ("DecodePlan.encode", "empty function", 3),
    ("DecodePlan.encode", "ctypes", 1 / 8),
    ("DecodeStep.encode, per dispatch", "C twin, per dispatch", 1.15),
    ("DecodeStep.encode, per dispatch", "empty function", 1.5),
    ("encode_attention", "ctypes", 1 / 4),
    ("set seq_len + pack_into, 8 words", "Struct.pack_into, 8 words", 1 / 2),
    ("pack_into, 12 words", "Struct.pack_into, 12 words", 1 / 2),
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=100)
    options = parser.parse_args()
    decoding = Decoding()
    with tempfile.TemporaryDirectory() as folder:
        cases = {
            **python_calls.cases(pathlib.Path(folder)),
            **packing.cases(decoding),
            **plan_encode.cases(decoding),
            **step_encode.cases(decoding),
        }
        timings = measure(cases, options.rounds)
    for name, timing in timings.items():
        print(f"{name:34} min {timing.least:7.1f} ns  median {timing.median:7.1f} ns")
    for name, peer, goal in GOALS:
        ratio = timings[name].least / timings[peer].least
        print(f"{name:34} / {peer:28} {ratio:6.3f}  goal {goal:.3f}")


if __name__ == "__main__":
    main()
