"""The engines that kernels are tested on."""

from flashmetal import _host

__all__ = ["ENGINES"]

# The first runs the kernel's own text.
ENGINES = ("simt", "native") if _host.available() else ("auto",)
