"""The example of a decode loop: its tokens, what it refuses, and that the guide shows it whole."""

import importlib.util
import pathlib
import subprocess
import sys

import numpy as np
import pytest

from flashmetal.errors import InvalidArgument

ROOT = pathlib.Path(__file__).parent.parent
EXAMPLE = ROOT / "examples" / "decode_loop.py"
GUIDE = ROOT / "docs" / "decode-loop.md"


@pytest.fixture(scope="module")
def example():
    spec = importlib.util.spec_from_file_location("decode_loop", EXAMPLE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def scores_in_float64(example, weights, tokens):
    """The scores after each token, by the definition of the model."""
    shape = (example.KV_HEADS, example.HEAD_DIM)
    keys, values = ([[] for _ in range(example.LAYERS)] for _ in "kv")
    for token in tokens:
        x = weights["embedding"][token].astype("f8")
        for layer in range(example.LAYERS):
            projected = weights["projections"][layer].astype("f8") @ x
            q, k, v = np.split(projected, [example.WIDTH, example.WIDTH + example.KV_WIDTH])
            keys[layer].append(k.astype("f2").astype("f8").reshape(shape))
            values[layer].append(v.astype("f2").astype("f8").reshape(shape))
            q = q.reshape(*shape[:1], -1, example.HEAD_DIM)
            weighed = np.einsum("ghd,ngd->ghn", q, keys[layer]) / np.sqrt(example.HEAD_DIM)
            weighed = np.exp(weighed - weighed.max(axis=-1, keepdims=True))
            weighed /= weighed.sum(axis=-1, keepdims=True)
            attended = np.einsum("ghn,ngd->ghd", weighed, values[layer]).ravel()
            x = x + weights["outputs"][layer].astype("f8") @ attended
        yield weights["scores"].astype("f8") @ x


def test_it_scores_as_the_model_in_float64(example, device):
    weights = example.random_weights()
    decoder = example.Decoder(device, weights)
    tokens = [1, 7, 7, 300, 511, 0, 42, 5]
    for position, exact in enumerate(scores_in_float64(example, weights, tokens)):
        decoder.next_token(tokens[position], position)
        np.testing.assert_allclose(decoder.scores_view, exact, atol=2e-3 * np.abs(exact).max())


def test_it_chooses_the_likeliest_token(example, device):
    weights = example.random_weights()
    tokens = example.generate(example.Decoder(device, weights), 12)
    assert len(tokens) == 13
    for token, exact in zip(
        tokens[1:], scores_in_float64(example, weights, tokens[:-1]), strict=True
    ):
        assert exact[token] >= exact.max() - 2e-3 * np.abs(exact).max()


def test_a_token_is_one_command_buffer(example, device):
    decoder = example.Decoder(device, example.random_weights())
    encoder = device.encoder()
    decoder.step.encode(encoder, 1)
    assert encoder.dispatch_count == 3 * example.LAYERS + 1
    assert encoder.command_buffer_count == 1
    encoder.discard()


def test_positions_beyond_the_caches_are_refused(example, device):
    decoder = example.Decoder(device, example.random_weights())
    with pytest.raises(InvalidArgument, match="not all in the caches, which have 1024"):
        decoder.next_token(1, example.CAPACITY)


def test_it_runs_as_a_program():
    done = subprocess.run(
        [sys.executable, EXAMPLE, "5"], capture_output=True, text=True, check=True
    )
    assert len(done.stdout.split()) == 6
    assert "µs per token" in done.stderr


def test_the_guide_shows_the_whole_program():
    assert f"```python\n{EXAMPLE.read_text(encoding='utf-8')}```" in GUIDE.read_text(
        encoding="utf-8"
    )
