"""What all test trees share: how Hypothesis draws its examples."""

import os

from hypothesis import HealthCheck, settings

# A machine under load makes every deadline flaky. Without a seed the same examples are drawn each
# time, so that a failure is the change's; .ci/run gives a seed that moves with the commit, and an
# unlucky one must not fail for how many of its first examples are drawn or how slowly.
settings.register_profile(
    "hornbook",
    deadline=None,
    derandomize="HYPOTHESIS_SEED" not in os.environ,
    print_blob=True,
    suppress_health_check=[
        HealthCheck.filter_too_much,
        HealthCheck.too_slow,
        HealthCheck.data_too_large,
    ],
)
settings.load_profile("hornbook")
