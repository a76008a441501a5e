"""What a run would ask of providers, counted before anything is asked.

In: the items of the run. Out: pieces that are new and that are there already, and a `cost.Estimate`.
Invariant: it goes through the very steps that the run takes up to the first question, so that the plan it
prices is the plan that is carried out; nothing is sent.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from git_pkb.index.produce import Batch, Item, Row, begin, is_cut_by_provider
from git_pkb.index.recipe import Recipe
from git_pkb.net import cost, tokencount

if TYPE_CHECKING:
    from git_pkb.config import Config


@dataclass(frozen=True, slots=True)
class Forecast:
    """`records`: blob and language -> pieces (about, where the provider cuts)."""

    estimate: cost.Estimate
    new: int
    reused: int
    records: dict[tuple[str, str], int]


def forecast(items: Iterable[Item], recipe: Recipe, config: "Config", known: dict[bytes, Row]) -> Forecast:
    """Cut everything and count what has no row yet."""
    provider, model = config.embedding.provider, _model(recipe.embedder, config.embedding.model)
    count, exact = tokencount.counter(provider, model)
    seen: set[bytes] = set()
    records: dict[tuple[str, str], int] = {}
    new = reused = tokens = files = 0
    for item in items:
        batch = Batch()
        draft = begin(item, recipe, batch, known)
        records[item.blob, item.language] = len(draft.records)
        if is_cut_by_provider(item, recipe):
            new += len(draft.records)
            tokens += count(item.content.decode())
            files += 1
            continue
        fresh = [(key, text) for key, text in batch.texts.items() if key not in seen]
        seen.update(key for key, _ in fresh)
        new += len(fresh)
        reused += len(draft.records) - len(fresh) if recipe.asks else 0
        tokens += sum(count(text) for _, text in fresh)
        files += draft.summary is None and bool(draft.records)
    lines = []
    if recipe.summarizer is not None:
        s = recipe.summarizer
        lines.append(cost.summaries(s.provider, s.model, new, files, tokens, paid=s.paid))
    if recipe.embedder is not None:
        if recipe.embeds_summary:
            tokens = new * cost.SUMMARY_TOKENS
        paid = recipe.embedder.paid
        lines.append(cost.embedding(provider, model, new, tokens, paid=paid, exact=exact))
    return Forecast(cost.Estimate(tuple(lines)), new, reused, records)


def _model(embedder: object, configured: str | None) -> str:
    """The name of a model for prices; local ones have none that matters."""
    name = getattr(embedder, "model", None) or configured
    return name if isinstance(name, str) else "default"
