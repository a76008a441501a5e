"""Any server that speaks OpenAI's `/v1/chat/completions`, over plain HTTP.

In: a prompt. Out: what the model wrote. Invariant: the server gets the key of its own variable, or none;
never OPENAI_API_KEY unless the settings name it.
"""

from typing import TYPE_CHECKING

from git_pkb.errors import ConfigError
from git_pkb.net.jsonhttp import base_url, is_loopback, post_json
from git_pkb.net.network import Failure
from git_pkb.summarize.prompts import SYSTEM
from git_pkb.summarize.remote import MOST_TOKENS, RemoteSummarizer, Written, number_of, text_of

if TYPE_CHECKING:
    from git_pkb.config import Config


class OpenAICompatibleSummarizer(RemoteSummarizer):
    """See the module."""

    provider = "openai-compatible"
    default_model = ""
    default_key = "OPENAI_COMPATIBLE_API_KEY"
    needs_key = False

    def __init__(self, config: "Config") -> None:
        super().__init__(config)
        if not config.summarizer.baseurl or not self.model:
            raise ConfigError(
                "the openai-compatible summarizer needs the address of its server and the name of a model",
                "set summarizer.baseurl, e.g. http://localhost:8080 (without /v1), and summarizer.model",
            )
        self.url = base_url(config.summarizer.baseurl, "summarizer.baseurl")
        self.paid = not is_loopback(self.url)

    @property
    def address(self) -> str:
        """Where requests go."""
        return self.url

    def complete(self, message: str) -> Written:
        """One exchange."""
        key = self.key()
        answer = post_json(
            f"{self.url}/v1/chat/completions",
            {
                "model": self.model,
                "max_tokens": MOST_TOKENS,
                "messages": [
                    {"role": "system", "content": SYSTEM},
                    {"role": "user", "content": message},
                ],
            },
            {"Authorization": f"Bearer {key}"} if key else {},
            self.timeout,
        )
        try:
            text = answer["choices"][0]["message"]["content"]
        except (KeyError, IndexError, TypeError):
            raise Failure(
                f"no choice in the answer: {str(answer)[:200]}", transient=False, page=True
            ) from None
        usage = answer.get("usage")
        usage = usage if isinstance(usage, dict) else {}
        return Written(
            text_of(text or ""),
            number_of(usage.get("prompt_tokens")),
            number_of(usage.get("completion_tokens")),
        )
