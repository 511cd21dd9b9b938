"""The `flashmetal` command: what it prints where, and its exit status."""

import collections
import json
import os
import platform
import subprocess
import sys

import numpy as np
import pytest

import flashmetal as fm
from flashmetal import _host, cli, reference, verify_cases
from flashmetal.prefill_problems import PrefillShape
from flashmetal.problems import DecodeShape

SMALL_GRID = [
    verify_cases.DecodeCase(DecodeShape(2, 1, 64, 33), "normal"),
    verify_cases.PrefillCase(
        "flash_attn_prefill_tensor", PrefillShape(33, 2, 1, 256, 100), "normal", "causal"
    ),
    verify_cases.PrefillCase(
        "flash_attn_prefill_simdgroup", PrefillShape(33, 2, 1, 64, 100), "normal", "causal"
    ),
]


@pytest.fixture
def small_grid(monkeypatch):
    monkeypatch.setattr(cli, "grid", lambda quick: SMALL_GRID)


def test_info_shows_the_device_and_versions(capsys):
    assert cli.main(["info"]) == 0
    text = capsys.readouterr().out
    assert fm.Device().name in text
    assert fm.__version__ in text
    assert np.__version__ in text


def test_info_as_json(capsys):
    assert cli.main(["info", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["registry_id"] == fm.Device().registry_id
    assert facts["python"] == platform.python_version()
    assert set(facts) == {
        *("device", "registry_id", "engine", "threads", "language_version", "tensor_api"),
        *("flashmetal", "python", "numpy", "compiler", "cache"),
    }


@pytest.mark.skipif(not _host.available(), reason="only the host device takes threads")
def test_info_of_a_number_of_threads(capsys):
    assert cli.main(["info", "--json", "--threads", "1"]) == 0
    assert json.loads(capsys.readouterr().out)["threads"] == 1


def test_verify_passes(small_grid, capsys):
    assert cli.main(["verify"]) == 0
    captured = capsys.readouterr()
    assert "worst NMSE" in captured.out
    assert captured.err == ""


def test_verify_as_json_prints_one_object(small_grid, capsys):
    assert cli.main(["verify", "--json"]) == 0
    captured = capsys.readouterr()
    report = json.loads(captured.out)
    assert report["passed"] is True
    operations = [(entry["operation"], entry["cases"]) for entry in report["engines"][:3]]
    assert operations == [
        ("flash_attention", 1),
        ("flash_attn_prefill_tensor", 1),
        ("flash_attn_prefill_simdgroup", 1),
    ]
    assert captured.err == ""


def test_verify_quick_covers_the_coarse_grid(capsys):
    assert cli.main(["verify", "--quick", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["quick"] is True
    cases = collections.Counter(case.operation for case in verify_cases.grid(quick=True))
    for entry in report["engines"]:
        if entry["lacks"] is None:
            assert entry["cases"] == cases[entry["operation"]]
        assert entry["nmse"] <= verify_cases.OPERATIONS[entry["operation"]].limits.nmse


def test_verify_reports_a_broken_limit_in_its_exit_status(small_grid, capsys, monkeypatch):
    monkeypatch.setattr(reference.Accuracy, "within_bound", False)
    assert cli.main(["verify", "--json"]) == 1
    report = json.loads(capsys.readouterr().out)
    assert report["passed"] is False
    assert len(report["engines"][0]["failures"]) == 1


def test_unknown_engine_is_an_error_without_a_traceback(capsys):
    assert cli.main(["verify", "--engine", "gpu"]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("flashmetal: Invalid argument: Device: engine must be one of")


@pytest.mark.skipif(not _host.available(), reason="arms a fault of the host device")
def test_no_device_is_an_error_without_a_traceback(capsys):
    _host.set_faults("device")
    try:
        assert cli.main(["info"]) == 2
    finally:
        _host.set_faults()
    assert capsys.readouterr().err.startswith("flashmetal: No Metal GPU device found")


def test_too_little_memory_is_an_error_without_a_traceback(monkeypatch, capsys):
    def refuse(quick):
        raise MemoryError("Unable to allocate 373. TiB")

    monkeypatch.setattr(cli, "grid", refuse)
    assert cli.main(["verify"]) == 2
    assert capsys.readouterr().err == "flashmetal: not enough memory: Unable to allocate 373. TiB\n"


@pytest.mark.parametrize("arguments", [[], ["unknown"], ["verify", "--threads", "many"]])
def test_wrong_usage_exits_with_2(arguments, capsys):
    with pytest.raises(SystemExit) as error:
        cli.main(arguments)
    assert error.value.code == 2
    assert "usage: flashmetal" in capsys.readouterr().err


def test_module_runs_as_the_command(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "flashmetal", "info", "--json"],
        capture_output=True,
        text=True,
        check=True,
        # Not where the source tree would be imported in place of the installed package.
        cwd=tmp_path,
    )
    assert json.loads(done.stdout)["flashmetal"] == fm.__version__


def run_info(**arguments):
    command = [sys.executable, "-m", "flashmetal", "info"]
    return subprocess.run(command, stderr=subprocess.PIPE, text=True, check=False, **arguments)


def test_reader_that_left_is_no_traceback():
    read, write = os.pipe()
    os.close(read)
    with open(write, "w") as output:
        done = run_info(stdout=output)
    assert (done.returncode, done.stderr) == (1, "")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no device that is full")
def test_output_that_cannot_be_written_is_one_sentence():
    with open("/dev/full", "w") as output:
        done = run_info(stdout=output)
    assert done.returncode == 1
    assert done.stderr == "flashmetal: cannot write the output: No space left on device\n"


def test_closed_output_is_one_sentence():
    command = [sys.executable, "-m", "flashmetal", "info"]
    done = subprocess.run(
        ["sh", "-c", 'exec "$@" >&-', "sh", *command], stderr=subprocess.PIPE, check=False
    )
    assert done.returncode == 1
    assert done.stderr == b"flashmetal: cannot write the output: standard output is closed\n"


def test_output_without_unicode_shows_other_characters():
    command = [sys.executable, "-m", "flashmetal", "verify", "--quick", "--threads", "1"]
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    assert "|?|/bound" in done.stdout
    assert done.stderr == ""


def test_interrupt_is_no_traceback(capsys, monkeypatch):
    def interrupt(threads):
        raise KeyboardInterrupt

    monkeypatch.setattr(cli, "gather", interrupt)
    assert cli.main(["info"]) == 130
    assert capsys.readouterr().err == "flashmetal: interrupted\n"
