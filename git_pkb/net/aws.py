"""Amazon Bedrock through boto3 (extra `bedrock`): a client, and its exceptions in the shared terms.

In: region, profile, address. Out: a client of a Bedrock service whose own retries are off. Credentials come
from the AWS chain (environment, shared configuration, role); this program never reads them itself.
Invariant: boto3 is imported here alone, and only when Bedrock is asked.
"""

from collections.abc import Callable
from typing import Any

from git_pkb.errors import ConfigError, ProviderError
from git_pkb.net.network import Failure, seconds

DEFAULT_REGION = "us-east-1"


def open_client(
    region: str | None,
    profile: str | None,
    address: str | None,
    timeout: float,
    section: str,
    *,
    service: str = "bedrock-runtime",
    prefix: str = "aws",
) -> Any:
    """A client of the Bedrock runtime, or another service.

    Errors name `section` of the settings, and `prefix` of its keys for profile and region.

    Raises ConfigError without boto3, ProviderError when the profile does not exist.
    """
    try:
        import boto3
        from botocore.config import Config
        from botocore.exceptions import BotoCoreError
    except ImportError:
        raise ConfigError(
            "Bedrock needs boto3, which is not installed", "pip install 'git-pkb[bedrock]'"
        ) from None
    limits = Config(
        connect_timeout=min(timeout, 10.0), read_timeout=timeout, retries={"total_max_attempts": 1}
    )
    try:
        session = boto3.Session(profile_name=profile, region_name=region)
        return session.client(
            service,
            region_name=region or session.region_name or DEFAULT_REGION,
            endpoint_url=address,
            config=limits,
        )
    except (BotoCoreError, ValueError) as error:
        raise ProviderError(
            f"Bedrock cannot be opened: {error}",
            f"check {section}.{prefix}profile and {section}.{prefix}region",
        ) from None


def call(function: Callable[[], Any]) -> Any:
    """Make one call; raises Failure."""
    from botocore.exceptions import (
        BotoCoreError,
        ClientError,
        ConnectTimeoutError,
        HTTPClientError,
        NoCredentialsError,
        PartialCredentialsError,
        ReadTimeoutError,
    )

    try:
        return function()
    except ClientError as error:
        about = error.response.get("ResponseMetadata", {})
        said = error.response.get("Error", {})
        code = str(said.get("Code", ""))
        status = int(about.get("HTTPStatusCode", 0)) or None
        throttled = "Throttl" in code or "TooManyRequests" in code
        raise Failure(
            f"{code}: {said.get('Message', error)}",
            status=429 if throttled else _status(code, status),
            retry_after=seconds(about.get("HTTPHeaders", {}).get("retry-after")),
        ) from None
    except (NoCredentialsError, PartialCredentialsError) as error:
        raise Failure(f"{error}", status=401) from None
    except (ConnectTimeoutError, ReadTimeoutError, HTTPClientError) as error:
        raise Failure(f"{error}", transient=True) from None
    except BotoCoreError as error:
        if "Connect" in type(error).__name__:
            raise Failure(f"{error}", transient=True) from None
        raise Failure(f"{error}", status=401 if "Token" in type(error).__name__ else 400) from None


def _status(code: str, status: int | None) -> int | None:
    """AWS answers 400 to expired and to unknown credentials."""
    if any(
        word in code
        for word in ("ExpiredToken", "UnrecognizedClient", "InvalidSignature", "InvalidClientTokenId")
    ):
        return 401
    return status
