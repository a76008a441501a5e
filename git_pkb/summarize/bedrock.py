"""Amazon Bedrock's models, through its `converse` call, which is the same for all of them.

In: a prompt. Out: what the model wrote. Invariant: region and profile come from the settings, credentials
from the AWS chain.
"""

from typing import TYPE_CHECKING, Any

from git_pkb.net import aws
from git_pkb.net.jsonhttp import base_url
from git_pkb.net.network import Failure
from git_pkb.summarize.prompts import SYSTEM
from git_pkb.summarize.remote import MOST_TOKENS, RemoteSummarizer, Written, number_of, text_of

if TYPE_CHECKING:
    from git_pkb.config import Config


class BedrockSummarizer(RemoteSummarizer):
    """See the module."""

    provider = "bedrock"
    default_model = "us.anthropic.claude-haiku-4-5-20251001-v1:0"
    needs_key = False

    def __init__(self, config: "Config") -> None:
        super().__init__(config)
        settings = config.summarizer
        self.key_variable, self.key_named = None, False
        self.region, self.profile = settings.awsregion, settings.awsprofile
        self.url = base_url(settings.baseurl, "summarizer.baseurl") if settings.baseurl else None
        self._client: Any = None

    @property
    def address(self) -> str:
        """Where requests go."""
        return self.url or f"AWS region {self.region or aws.DEFAULT_REGION}"

    def prepare(self) -> None:
        """Open the client."""
        if self._client is None:
            self._client = aws.open_client(self.region, self.profile, self.url, self.timeout, "summarizer")

    def complete(self, message: str) -> Written:
        """One exchange."""
        answer = aws.call(
            lambda: self._client.converse(
                modelId=self.model,
                system=[{"text": SYSTEM}],
                messages=[{"role": "user", "content": [{"text": message}]}],
                inferenceConfig={"maxTokens": MOST_TOKENS},
            )
        )
        try:
            content = answer["output"]["message"]["content"]
            text = " ".join(text_of(each["text"]) for each in content if "text" in each)
        except (KeyError, TypeError):
            raise Failure(
                f"no message in the answer: {str(answer)[:200]}", transient=False, page=True
            ) from None
        usage = answer.get("usage", {})
        return Written(text, number_of(usage.get("inputTokens")), number_of(usage.get("outputTokens")))
