"""How far a difference between two runs may be chance: the paired bootstrap.

In: the differences of a metric, question by question. Out: a 95 % interval of their mean. Invariant: the
seed is fixed, so the same differences give the same interval everywhere (`random.Random.random` is
reproducible by Python's promise; its other methods are not).

Efron's percentile interval: resample the questions with replacement, take the mean, cut 2.5 % from both ends.
"""

import math
import random
from collections.abc import Sequence

SEED = 20010203
RESAMPLES = 2000
CONFIDENCE = 0.95


def interval(differences: Sequence[float], resamples: int = RESAMPLES) -> tuple[float, float]:
    """The interval of the mean difference; (0, 0) when there are no questions."""
    count = len(differences)
    if count == 0:
        return 0.0, 0.0
    draw = random.Random(SEED).random  # noqa: S311 - statistics, not secrets
    means = sorted(
        math.fsum(differences[int(draw() * count)] for _ in range(count)) / count for _ in range(resamples)
    )
    tail = (1 - CONFIDENCE) / 2
    return means[math.floor(tail * resamples)], means[math.ceil((1 - tail) * resamples) - 1]
