"""What artifacts are made with: embedder and summarizer, and the names under which headers record them.

In: the configuration. Out: a `Recipe`. Invariant: whatever changes what an artifact holds changes `identity`.
A summarizer whose words are embedded is part of the model (`<embedder>+<summarizer>`, one vector space with
the embedder alone); one that only describes is part of the cutter.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from git_pkb.index.plan import Identity
from git_pkb.slotted import made_by, value

if TYPE_CHECKING:
    from git_pkb.config import Config
    from git_pkb.embed.base import Embedder
    from git_pkb.summarize.base import Summarizer

NO_MODEL = "none"


@value
class Recipe:
    """How artifacts are made.

    `text`: whether artifacts hold the text of their pieces; `overrides`: extension -> `code` or `text`;
    `embeds_summary`: whether the summary of a piece is embedded instead of its text.
    """

    identity: Identity
    embedder: "Embedder | None"
    text: bool = False
    overrides: Mapping[str, str] = made_by(dict)
    summarizer: "Summarizer | None" = None
    embeds_summary: bool = False

    @property
    def asks(self) -> bool:
        """Whether anything is asked for a piece at all."""
        return self.embedder is not None or self.summarizer is not None

    @property
    def local(self) -> bool:
        """Whether a piece is embedded in less time than it takes to look for its row in history."""
        return self.summarizer is None and self.identity.model.startswith((NO_MODEL, "local-"))

    @property
    def cheap(self) -> bool:
        """Whether a piece costs no more than a moment of this machine."""
        providers = [each for each in (self.embedder, self.summarizer) if each is not None]
        return not any(each.paid or each.network for each in providers)

    @property
    def usd(self) -> float:
        """What has been spent so far."""
        providers = [each for each in (self.embedder, self.summarizer) if each is not None]
        return sum(each.usage.usd for each in providers)


def open_recipe(config: "Config") -> Recipe:
    """Open the providers of the configuration; raises ConfigError for what cannot work."""
    from git_pkb.chunk import CUTTER
    from git_pkb.embed.base import open_embedder

    embedder = open_embedder(config)
    summarizer = None
    if config.summarizer.provider != "none":
        from git_pkb.summarize.base import open_summarizer

        summarizer = open_summarizer(config)
    full = config.index.text == "full"
    cutter = f"{CUTTER}+text" if full else CUTTER
    model = embedder.identity if embedder is not None else NO_MODEL
    embeds = summarizer is not None and embedder is not None and config.summarizer.embed
    if summarizer is not None and embeds:
        model = f"{model}+{summarizer.identity}"
    elif summarizer is not None:
        cutter = f"{cutter}+{summarizer.identity}"
    return Recipe(Identity(cutter, model), embedder, full, config.ext_overrides, summarizer, embeds)
