"""The switches of the control layer, for ablation (DESIGN section 5)."""

from dataclasses import dataclass

__all__ = ["Controls"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Controls:
    """Which parts of the control layer are on; off, a part is as if it was never declared."""

    contracts: bool = True
    """Outputs are held to the clauses of `ensures` and to the output type."""
    prerequisites: bool = True
    """Inputs are held to the clauses of `requires`."""
    recovery: bool = True
    """Retries, fallbacks and waiving."""
