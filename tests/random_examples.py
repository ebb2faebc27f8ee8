"""How hypothesis runs every test of this suite: always the same examples, whatever the load.

- No example has a deadline, and a strategy may be slow to draw: how fast the machine is proves
  nothing about memoranda, and pytest's own time limit ends what hangs. The health checks that
  find a mistake in a strategy or in a test stay.
- The examples are derived from each test, not from chance: who runs the suite learns about the
  change in hand, and a failure is there again at the next run, on any machine. Whoever looks for
  new examples runs ``pytest --hypothesis-profile=exploring``; it prints how to repeat a failure.

The profile is loaded before any test is imported, because ``@settings`` starts from the profile
of that moment. A test that names ``suppress_health_check`` would drop what is suppressed here:
start from ``memoranda.testkit.strategies.shared_fixtures`` instead.
"""

from typing import Final

from hypothesis import HealthCheck, settings

SUITE: Final = settings(
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=True,
    database=None,
)

settings.register_profile("suite", SUITE)
settings.register_profile("exploring", SUITE, derandomize=False, print_blob=True)
settings.load_profile("suite")
