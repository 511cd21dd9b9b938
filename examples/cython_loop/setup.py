"""Builds against the installed flashmetal: its declarations, its header, no library."""

from Cython.Build import cythonize
from setuptools import Extension, setup

import flashmetal

extension = Extension(
    "cython_loop.loop",
    ["cython_loop/loop.pyx", "cython_loop/greatest.c"],
    include_dirs=[flashmetal.get_include()],
)

setup(
    packages=["cython_loop"],
    ext_modules=cythonize([extension], include_path=[flashmetal.get_cython_include()]),
)
