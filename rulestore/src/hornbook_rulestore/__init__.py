"""The store of learned rules.

Names load on first use, so that the entry point does not import the index library.
"""

from hornbook import lazy

__all__: list[str] = []

__getattr__, __dir__ = lazy.attach(__name__, {})
