"""The figures of one run, as lines of text and as a JSON object."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from .greedy import Transcript
from .measured_attention import MeasuredAttention


@dataclass(frozen=True)
class Report:
    """What a run measured; times are in seconds."""

    attention: str
    prompt_tokens: int
    generated_tokens: int
    load_seconds: float
    prompt_seconds: float
    tokens_per_second: float
    prompt_dispatches: int
    prompt_dispatch_seconds: float
    step_dispatches: int
    step_dispatch_seconds: float
    attention_share: float
    prompt_largest_difference: float
    step_largest_difference: float
    compared_rows: int

    @classmethod
    def of(
        cls,
        name: str,
        prompt_tokens: int,
        load_seconds: float,
        transcript: Transcript,
        attention: MeasuredAttention,
    ) -> Report:
        """Collect the figures, comparing the samples of `attention` with fp64."""
        prompt, step = attention.prompt_difference(), attention.step_difference()
        steps = attention.steps
        return cls(
            attention=name,
            prompt_tokens=prompt_tokens,
            generated_tokens=len(transcript.tokens),
            load_seconds=load_seconds,
            prompt_seconds=transcript.prompt_seconds,
            tokens_per_second=transcript.tokens_per_second,
            prompt_dispatches=attention.prompt.dispatches,
            prompt_dispatch_seconds=attention.prompt.mean,
            step_dispatches=steps.dispatches,
            step_dispatch_seconds=steps.mean,
            attention_share=steps.seconds / (transcript.step_seconds or 1.0),
            prompt_largest_difference=prompt.largest,
            step_largest_difference=step.largest,
            compared_rows=prompt.rows + step.rows,
        )

    def lines(self) -> list[str]:
        """Return the report as lines for a person."""
        return [
            f"{self.tokens_per_second:.1f} tokens/s over {self.generated_tokens} tokens; "
            f"prompt of {self.prompt_tokens} tokens in {self.prompt_seconds:.2f} s; "
            f"model loaded in {self.load_seconds:.1f} s",
            f"attention ({self.attention}): {self.step_dispatch_seconds * 1e3:.3f} ms per "
            f"dispatch, {self.attention_share:.0%} of a token's time; in the prompt "
            f"{self.prompt_dispatch_seconds * 1e3:.3f} ms; "
            f"{self.prompt_dispatches + self.step_dispatches} dispatches",
            f"largest difference from fp64 attention on the same q, K and V: "
            f"{self.prompt_largest_difference:.1e} in the prompt, "
            f"{self.step_largest_difference:.1e} after it ({self.compared_rows} rows compared)",
        ]

    def as_json(self) -> dict[str, object]:
        """Return the report's fields, ready for `json.dumps`."""
        return asdict(self)
