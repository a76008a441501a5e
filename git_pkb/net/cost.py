"""What a run will cost, before it costs anything.

In: token counts and model names. Out: dollars, by one dated table, and the gate that stops a run above its
cap. Pure: nothing is asked or read. Invariant: an estimate errs to the high side: an unknown model of a paid
provider counts as the dearest one in the table, and says so.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from git_pkb.errors import CostCapExceeded

#: When the table below was last compared with the vendors' price pages.
PRICES_AS_OF = "2026-11"


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars for a million tokens read and written."""

    read: float
    written: float = 0.0


FREE = Price(0.0)

#: (provider, beginning of the model's name) -> price; the longest beginning that fits counts
PRICES: dict[tuple[str, str], Price] = {
    ("voyage", "voyage-context-4"): Price(0.12),
    ("voyage", "voyage-context-3"): Price(0.18),
    ("voyage", "voyage-code-3"): Price(0.18),
    ("voyage", "voyage-4-large"): Price(0.12),
    ("voyage", "voyage-4-lite"): Price(0.02),
    ("voyage", "voyage-4"): Price(0.06),
    ("voyage", "voyage-3-large"): Price(0.18),
    ("voyage", "voyage-3.5-lite"): Price(0.02),
    ("voyage", "voyage-3.5"): Price(0.06),
    ("voyage", "voyage-3-lite"): Price(0.02),
    ("voyage", "voyage-3"): Price(0.06),
    ("voyage", "voyage-finance-2"): Price(0.12),
    ("voyage", "voyage-law-2"): Price(0.12),
    ("bedrock", "cohere.embed-v4"): Price(0.12),
    ("bedrock", "cohere.embed-"): Price(0.10),
    ("bedrock", "amazon.titan-embed-text-v2"): Price(0.02),
    ("bedrock", "amazon.titan-embed-text-v1"): Price(0.10),
    ("bedrock", "anthropic.claude-haiku-4-5"): Price(1.0, 5.0),
    ("bedrock", "anthropic.claude-3-5-haiku"): Price(0.8, 4.0),
    ("bedrock", "anthropic.claude-3-haiku"): Price(0.25, 1.25),
    ("bedrock", "anthropic.claude-sonnet-4"): Price(3.0, 15.0),
    ("bedrock", "amazon.nova-micro"): Price(0.035, 0.14),
    ("bedrock", "amazon.nova-lite"): Price(0.06, 0.24),
    ("openai", "text-embedding-3-small"): Price(0.02),
    ("openai", "text-embedding-3-large"): Price(0.13),
    ("openai", "text-embedding-ada-002"): Price(0.10),
    ("anthropic", "claude-haiku-4-5"): Price(1.0, 5.0),
    ("anthropic", "claude-3-5-haiku"): Price(0.8, 4.0),
    ("anthropic", "claude-3-haiku"): Price(0.25, 1.25),
    ("anthropic", "claude-sonnet-4"): Price(3.0, 15.0),
    ("anthropic", "claude-opus-4-5"): Price(5.0, 25.0),
    ("mock", "mock-paid"): Price(1.0, 1.0),
}
#: What a model of a remote OpenAI-compatible server is taken to cost: nobody's list can know.
UNKNOWN_EMBEDDER = Price(0.18)
UNKNOWN_WRITER = Price(3.0, 15.0)
_REGIONS = ("us.", "eu.", "apac.", "au.", "jp.", "ca.", "us-gov.", "global.")

#: Tokens of the instructions that go with each piece to a summarizer, and of its answer.
PROMPT_TOKENS = 160
SUMMARY_TOKENS = 80


def price(provider: str, model: str, *, writes: bool = False) -> tuple[Price, bool]:
    """Price of a model, and whether it was assumed because the table does not have it."""
    name = model.rpartition("/")[2]  # of an ARN: the model or profile it names
    for region in _REGIONS:
        name = name.removeprefix(region)
    fitting = [start for owner, start in PRICES if owner == provider and name.startswith(start)]
    if fitting:
        return PRICES[provider, max(fitting, key=len)], False
    if provider == "mock":
        return FREE, False
    return UNKNOWN_WRITER if writes else UNKNOWN_EMBEDDER, True


@dataclass(frozen=True, slots=True)
class Line:
    """One item of an estimate: `what` is `embedding` or `summaries`; tokens read and written, and dollars.

    `assumed`: the price is not in the table; `exact`: the tokens were counted by the model's own tokenizer.
    """

    what: str
    provider: str
    model: str
    texts: int
    tokens: int
    written: int
    usd: float
    assumed: bool = False
    exact: bool = False


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a run would cost."""

    lines: tuple[Line, ...]

    @property
    def usd(self) -> float:
        """Dollars of all lines."""
        return sum(line.usd for line in self.lines)

    @property
    def texts(self) -> int:
        """Texts that would be embedded."""
        return sum(line.texts for line in self.lines if line.what == "embedding")

    @property
    def tokens(self) -> int:
        """Tokens that would be read by any model."""
        return sum(line.tokens for line in self.lines)


def embedding(
    provider: str, model: str, texts: int, tokens: int, *, paid: bool = True, exact: bool = False
) -> Line:
    """The item for embedding that many tokens."""
    each, assumed = price(provider, model) if paid else (FREE, False)
    return Line(
        "embedding", provider, model, texts, tokens, 0, dollars(each, tokens), assumed and texts > 0, exact
    )


def summaries(provider: str, model: str, pieces: int, files: int, tokens: int, *, paid: bool = True) -> Line:
    """The item for summarizing `pieces` of together `tokens` tokens, and rolling them up for `files` files.

    A roll-up reads the summaries of its pieces; each call reads the instructions and writes an answer.
    """
    each, assumed = price(provider, model, writes=True) if paid else (FREE, False)
    calls = pieces + files
    read = tokens + calls * PROMPT_TOKENS + pieces * SUMMARY_TOKENS
    written = calls * SUMMARY_TOKENS
    usd = dollars(each, read, written)
    return Line("summaries", provider, model, pieces, read, written, usd, assumed and calls > 0)


def dollars(each: Price, read: int, written: int = 0) -> float:
    """Dollars for tokens at a price."""
    return (read * each.read + written * each.written) / 1_000_000


def gate(usd: float, cap: float, setting: str = "maxReindexCost") -> None:
    """Raise CostCapExceeded when an estimate is above the cap; a cap of 0 or below lets everything pass."""
    if 0 < cap < usd:
        raise CostCapExceeded(
            f"this run would cost about {money(usd)}, more than the cap of {money(cap)}; nothing was spent",
            f"allow it once with `git pkb reindex --max-reindex-cost {_ceiling(usd)}`, or raise {setting}",
        )


def money(usd: float) -> str:
    """Dollars for people: cents from one cent up, four places below."""
    return f"${usd:.2f}" if usd >= 0.01 or usd == 0 else f"${usd:.4f}" if usd >= 0.0001 else "<$0.0001"


def report(estimate: Estimate) -> Iterable[str]:
    """An estimate in lines of text."""
    for line in estimate.lines:
        about = "" if line.exact else "about "
        assumed = ", price assumed" if line.assumed else ""
        yield (
            f"{line.what}: {line.texts:,} texts, {about}{line.tokens:,} tokens, "
            f"{money(line.usd)} ({line.provider} {line.model}{assumed})"
        )


def _ceiling(usd: float) -> str:
    cents = -(-usd * 100 // 1)
    return f"{cents / 100:.2f}"
