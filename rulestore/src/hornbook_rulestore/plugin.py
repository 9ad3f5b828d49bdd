"""What the rule store tells Hornbook. It must not import the index library.

It has no hook implementation yet: rules are kept in `hornbook.rules.RuleLibrary` so far.
"""

NAME = "rulestore"
DISTRIBUTION = "hornbook-rulestore"
