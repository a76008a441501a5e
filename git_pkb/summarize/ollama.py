"""Ollama, over its own protocol (`/api/chat`).

In: a prompt. Out: what the model wrote. Invariant: costs nothing; no key unless the settings name one.
"""

from typing import TYPE_CHECKING

from git_pkb.net.jsonhttp import base_url, post_json
from git_pkb.net.network import Failure
from git_pkb.summarize.prompts import SYSTEM
from git_pkb.summarize.remote import MOST_TOKENS, RemoteSummarizer, Written, number_of, text_of

if TYPE_CHECKING:
    from git_pkb.config import Config

DEFAULT_URL = "http://localhost:11434"


class OllamaSummarizer(RemoteSummarizer):
    """See the module."""

    provider = "ollama"
    default_model = "llama3.2"
    needs_key = False

    def __init__(self, config: "Config") -> None:
        super().__init__(config)
        self.url = base_url(config.summarizer.baseurl or DEFAULT_URL, "summarizer.baseurl")
        self.paid = False

    @property
    def address(self) -> str:
        """Where requests go."""
        return self.url

    def complete(self, message: str) -> Written:
        """One exchange."""
        key = self.key()
        answer = post_json(
            f"{self.url}/api/chat",
            {
                "model": self.model,
                "stream": False,
                "messages": [
                    {"role": "system", "content": SYSTEM},
                    {"role": "user", "content": message},
                ],
                "options": {"num_predict": MOST_TOKENS, "temperature": 0},
            },
            {"Authorization": f"Bearer {key}"} if key else {},
            self.timeout,
        )
        said = answer.get("message")
        if not isinstance(said, dict):
            raise Failure(f"no message in the answer: {str(answer)[:200]}", transient=False, page=True)
        return Written(
            text_of(said.get("content")),
            number_of(answer.get("prompt_eval_count")),
            number_of(answer.get("eval_count")),
        )
