"""Anthropic's models, through their own client (extra `anthropic`).

In: a prompt. Out: what the model wrote. Invariant: the client's own retries are off, the shared policy
decides.
"""

from typing import TYPE_CHECKING, Any

from git_pkb.errors import ConfigError
from git_pkb.net.jsonhttp import base_url
from git_pkb.net.network import Failure, seconds
from git_pkb.summarize.prompts import SYSTEM
from git_pkb.summarize.remote import MOST_TOKENS, RemoteSummarizer, Written, number_of

if TYPE_CHECKING:
    from git_pkb.config import Config

DEFAULT_URL = "https://api.anthropic.com"


class AnthropicSummarizer(RemoteSummarizer):
    """See the module."""

    provider = "anthropic"
    default_model = "claude-haiku-4-5"
    default_key = "ANTHROPIC_API_KEY"

    def __init__(self, config: "Config") -> None:
        super().__init__(config)
        self.url = base_url(config.summarizer.baseurl or DEFAULT_URL, "summarizer.baseurl")
        self._client: Any = None

    @property
    def address(self) -> str:
        """Where requests go."""
        return self.url

    def prepare(self) -> None:
        """Open the client."""
        if self._client is not None:
            return
        key = self.key()
        try:
            from anthropic import Anthropic
        except ImportError:
            raise ConfigError(
                "the anthropic summarizer needs the package anthropic, which is not installed",
                "pip install 'git-pkb[anthropic]'",
            ) from None
        self._client = Anthropic(api_key=key, base_url=self.url, timeout=self.timeout, max_retries=0)

    def finish(self) -> None:
        """Close its connections."""
        if self._client is not None:
            self._client.close()
            self._client = None

    def complete(self, message: str) -> Written:
        """One message, one answer; its parts that are no text (a model's thoughts) are left out."""
        import anthropic

        try:
            answer = self._client.messages.create(
                model=self.model,
                max_tokens=MOST_TOKENS,
                system=SYSTEM,
                messages=[{"role": "user", "content": message}],
            )
        except anthropic.APIStatusError as error:
            body = error.body
            inner = body.get("error") if isinstance(body, dict) else None
            said = inner.get("message") if isinstance(inner, dict) else None
            raise Failure(
                str(said or error.message),
                status=error.status_code,
                retry_after=seconds(error.response.headers.get("retry-after")),
            ) from None
        except anthropic.APIConnectionError as error:  # a timeout is one
            raise Failure(str(error.__cause__ or error), transient=True) from None
        except anthropic.APIError as error:
            raise Failure(str(error), transient=False, page=True) from None
        content = getattr(answer, "content", None)
        if not isinstance(content, list):
            raise Failure(str(answer)[:200], transient=False, page=True)
        text = " ".join(each.text for each in content if getattr(each, "type", "") == "text")
        if getattr(answer, "stop_reason", None) == "refusal":
            text = ""
        usage = getattr(answer, "usage", None)
        return Written(
            text,
            number_of(getattr(usage, "input_tokens", 0)),
            number_of(getattr(usage, "output_tokens", 0)),
        )
