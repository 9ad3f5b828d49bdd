"""What the Agents SDK adapter tells Hornbook. It must not import `agents`, which takes seconds.

It has no hook implementation: the adapter acts where its wraps stand.
"""

NAME = "openai_agents"
DISTRIBUTION = "hornbook-openai-agents"
