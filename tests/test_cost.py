"""Prices, estimates and the gate."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from git_pkb.errors import CostCapExceeded
from git_pkb.net import cost, tokencount


@pytest.mark.parametrize(
    ("provider", "model", "usd"),
    [
        ("voyage", "voyage-context-4", 0.12),
        ("voyage", "voyage-3.5-lite", 0.02),
        ("voyage", "voyage-3-large", 0.18),
        ("voyage", "voyage-4-large", 0.12),
        ("openai", "text-embedding-3-large", 0.13),
        ("bedrock", "cohere.embed-v4:0", 0.12),
        ("bedrock", "us.cohere.embed-v4:0", 0.12),
        ("bedrock", "arn:aws:bedrock:us-east-1:1:inference-profile/global.cohere.embed-v4:0", 0.12),
        ("bedrock", "amazon.titan-embed-text-v2:0", 0.02),
    ],
)
def test_prices_by_the_longest_name_that_fits(provider: str, model: str, usd: float) -> None:
    """A model's price is that of its family, whatever region or version its name carries."""
    assert cost.price(provider, model) == (cost.Price(usd), False)


def test_unknown_models_count_as_dear() -> None:
    """A model that is not in the table costs as much as the dearest there, and the line says so."""
    each, assumed = cost.price("voyage", "voyage-9-huge")
    assert assumed
    embedders = [p.read for (_, model), p in cost.PRICES.items() if "embed" in model or "voyage" in model]
    assert each.read >= max(embedders)
    writer, assumed = cost.price("anthropic", "claude-of-tomorrow", writes=True)
    assert assumed
    assert writer == cost.UNKNOWN_WRITER
    assert cost.embedding("voyage", "voyage-9-huge", 1, 1).assumed


def test_what_is_not_paid_is_free() -> None:
    """The local model, Ollama and servers on this machine cost nothing."""
    assert cost.embedding("local", "local-1", 100, 10**9, paid=False).usd == 0.0
    assert not cost.embedding("ollama", "any", 100, 10**9, paid=False).assumed


def test_an_estimate_adds_up() -> None:
    """Embedding and summaries are items of their own; roll-ups read the summaries of their pieces."""
    lines = (
        cost.embedding("voyage", "voyage-context-4", 100, 1_000_000),
        cost.summaries("anthropic", "claude-haiku-4-5", 10, 2, 5_000),
    )
    estimate = cost.Estimate(lines)
    read = 5_000 + 12 * cost.PROMPT_TOKENS + 10 * cost.SUMMARY_TOKENS
    written = 12 * cost.SUMMARY_TOKENS
    assert lines[0].usd == pytest.approx(0.12)
    assert lines[1].usd == pytest.approx((read * 1.0 + written * 5.0) / 1e6)
    assert estimate.usd == pytest.approx(lines[0].usd + lines[1].usd)
    assert (estimate.texts, estimate.tokens) == (100, 1_000_000 + read)
    first, second = cost.report(estimate)
    assert first.startswith("embedding: 100 texts, about 1,000,000 tokens, $0.12")
    assert "anthropic claude-haiku-4-5" in second


def test_the_gate_stops_above_the_cap() -> None:
    """Above the cap: exit code 5, both amounts, and how to allow it."""
    cost.gate(5.0, 5.0)
    with pytest.raises(CostCapExceeded) as caught:
        cost.gate(5.004, 5.0)
    assert caught.value.exit_code == 5
    assert "$5.00" in caught.value.message
    assert "--max-reindex-cost 5.01" in str(caught.value.hint)
    cost.gate(5.004, 5.01)


@pytest.mark.parametrize("cap", [0.0, -1.0])
def test_a_cap_of_zero_or_below_disables_the_gate(cap: float) -> None:
    """As the seeds have it."""
    cost.gate(1e9, cap)


def test_money_for_people() -> None:
    """Small amounts do not look like nothing."""
    assert [cost.money(usd) for usd in (0, 1.005e-9, 0.0012, 0.25, 12.5)] == [
        "$0.00",
        "<$0.0001",
        "$0.0012",
        "$0.25",
        "$12.50",
    ]


def test_the_counting_rule_errs_to_the_high_side() -> None:
    """One token for three bytes, rounded up; other scripts count by their bytes."""
    assert [tokencount.by_rule(text) for text in ("", "a", "abc", "abcd", "漢字", "é")] == [0, 1, 1, 2, 2, 1]
    total, exact = tokencount.count(["abc", "abcdef"], "openai", "text-embedding-3-small")
    assert (total, exact) == (3, False)


def test_counting_downloads_nothing() -> None:
    """Without Voyage's tokenizer on this machine the rule counts."""
    assert tokencount.count(["abcdef"], "voyage", "voyage-context-4") == (2, False)


COUNT_BY_TOKENIZER = """
import sys
from tokenizers import Tokenizer, models, pre_tokenizers
from git_pkb.net import tokencount
made = Tokenizer(models.WordLevel({"one": 0, "two": 1, "?": 2}, unk_token="?"))
made.pre_tokenizer = pre_tokenizers.Whitespace()
made.save(sys.argv[1])
print(*tokencount.count(["one two", "two two two"], "voyage", "voyage-context-4"))
print(*tokencount.count(["one two"], "voyage", "voyage-code-3"))
"""


def test_a_tokenizer_that_is_here_counts_exactly(tmp_path: Path) -> None:
    """Voyage's own tokenizer is used when it is in the local cache, and only for its own model."""
    model = tmp_path / "hub" / "models--voyageai--voyage-context-4"
    (model / "snapshots" / "abc").mkdir(parents=True)
    (model / "refs").mkdir()
    (model / "refs" / "main").write_text("abc")
    done = subprocess.run(
        [sys.executable, "-c", COUNT_BY_TOKENIZER, model / "snapshots" / "abc" / "tokenizer.json"],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "HF_HOME": str(tmp_path)},
    )
    assert done.stdout.splitlines() == ["5 True", "3 False"]
