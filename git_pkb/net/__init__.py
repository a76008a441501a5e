"""What providers that are asked over a network share: requests, retries, tokens, prices."""
