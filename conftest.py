"""What all test trees share: how Hypothesis draws its examples."""

import os

from hypothesis import settings

# A machine under load makes every deadline flaky. Without a seed the same examples are drawn each
# time, so that a failure is the change's; .ci/run gives a seed that moves with the commit.
settings.register_profile(
    "hornbook", deadline=None, derandomize="HYPOTHESIS_SEED" not in os.environ, print_blob=True
)
settings.load_profile("hornbook")
