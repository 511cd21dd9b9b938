"""What the two ways to use PyTorch share."""

from __future__ import annotations

import numpy as np
import torch

__all__ = ["DTYPES", "as_tensor", "hold_threads"]

DTYPES = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}


def as_tensor(array: np.ndarray, dtype: str) -> torch.Tensor:
    """Return a contiguous tensor; an array of the dtype keeps its memory."""
    return torch.from_numpy(array).to(DTYPES[dtype]).contiguous()


def hold_threads(threads: int) -> None:
    """Let PyTorch use this number of threads."""
    torch.set_num_threads(threads)
