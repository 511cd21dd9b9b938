"""The Llama forward pass in NumPy f32."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .attention import Attention
from .gguf_file import GGUFFile, ModelConfig
from .layers import RotaryEmbedding, rms_norm, swiglu
from .row_blocks import RowBlocks


@dataclass(frozen=True)
class Layer:
    """Weights of one layer, f32; matrices are ``[outputs, inputs]``."""

    attention_norm: np.ndarray
    # Projections that read the same input are stacked: one product instead of two or three.
    qkv: np.ndarray
    attention_output: np.ndarray
    ffn_norm: np.ndarray
    gate_up: np.ndarray
    ffn_down: np.ndarray


class Model:
    """A decoder-only model; it holds weights and no state of a conversation.

    Parameters
    ----------
    file
        Where the weights come from; they are dequantised here, on all cores.
    """

    def __init__(self, file: GGUFFile) -> None:
        self.config: ModelConfig = file.config()
        self._blocks = RowBlocks()
        # Dequantisation is NumPy on megabytes, which runs outside the interpreter's lock.
        embedding = self._blocks.pool.submit(file.tensor, "token_embd.weight")
        self._layers = list(
            self._blocks.pool.map(
                lambda index: _load_layer(file, index), range(self.config.n_layers)
            )
        )
        self._embedding = embedding.result()
        self._output_norm = file.tensor("output_norm.weight")
        tied = not file.has_tensor("output.weight")
        self._unembedding = self._embedding if tied else file.tensor("output.weight")
        self._rotary = RotaryEmbedding(
            self.config.head_dim, self.config.rope_theta, self.config.context_length
        )

    def forward(self, tokens: Sequence[int], start: int, attention: Attention) -> np.ndarray:
        """Run `tokens`, at positions from `start` on, and predict what follows the last.

        Parameters
        ----------
        tokens
            At least one.
        start
            Number of tokens already in the cache.
        attention
            Attends to, and holds, the cache; the new tokens' keys and values are stored in it.

        Returns
        -------
        numpy.ndarray
            Logits, f32 ``[vocabulary]``.
        """
        hidden = self._embedding[np.asarray(tokens)]
        for index, layer in enumerate(self._layers):
            hidden = hidden + self._attention_block(index, layer, hidden, start, attention)
            hidden = hidden + self._feed_forward(layer, hidden)
        last = rms_norm(hidden[-1], self._output_norm, self.config.rms_epsilon)
        return self._unembedding @ last

    def _attention_block(
        self, index: int, layer: Layer, hidden: np.ndarray, start: int, attention: Attention
    ) -> np.ndarray:
        config = self.config
        rows = len(hidden)
        projected = self._blocks.compute(
            lambda block: rms_norm(block, layer.attention_norm, config.rms_epsilon) @ layer.qkv.T,
            hidden,
        )
        heads = projected.reshape(rows, -1, config.head_dim)
        q, k, v = np.split(heads, [config.n_heads, config.n_heads + config.n_kv_heads], axis=1)
        attention.cache.append(index, self._rotary.rotate(k, start), v)
        attended = attention.attend(index, self._rotary.rotate(q, start), start)
        return self._blocks.compute(
            lambda block: block @ layer.attention_output.T, attended.reshape(rows, -1)
        )

    def _feed_forward(self, layer: Layer, hidden: np.ndarray) -> np.ndarray:
        def forward(block: np.ndarray) -> np.ndarray:
            normed = rms_norm(block, layer.ffn_norm, self.config.rms_epsilon)
            gate, up = np.split(normed @ layer.gate_up.T, 2, axis=1)
            return swiglu(gate, up) @ layer.ffn_down.T

        return self._blocks.compute(forward, hidden)


def _load_layer(file: GGUFFile, index: int) -> Layer:
    def tensor(name: str) -> np.ndarray:
        return file.tensor(f"blk.{index}.{name}.weight")

    return Layer(
        attention_norm=tensor("attn_norm"),
        qkv=np.concatenate([tensor("attn_q"), tensor("attn_k"), tensor("attn_v")]),
        attention_output=tensor("attn_output"),
        ffn_norm=tensor("ffn_norm"),
        gate_up=np.concatenate([tensor("ffn_gate"), tensor("ffn_up")]),
        ffn_down=tensor("ffn_down"),
    )
