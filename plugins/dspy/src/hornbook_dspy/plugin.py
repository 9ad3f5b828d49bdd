"""What the DSPy adapter tells Hornbook. It must not import `dspy`, which takes over a second.

It has no hook implementation yet.
"""

NAME = "dspy"
DISTRIBUTION = "hornbook-dspy"
