"""The engine: one interpreter of reasoning programs, driven from sync and async code.

A program's nodes are generators of effects; the engine carries them out, concurrently where
dependencies allow, and knows nothing of programs (Forethought 3.3, appendix B).
"""

from typing import TYPE_CHECKING

from hornbook import lazy

if TYPE_CHECKING:
    from hornbook.engine.caching import Cache, Hit, MemoryCache
    from hornbook.engine.controls import Controls
    from hornbook.engine.deciding import decided
    from hornbook.engine.disk import DiskCache
    from hornbook.engine.engine import Engine
    from hornbook.engine.errors import CacheError, StepTimeout
    from hornbook.engine.invoking import invoke
    from hornbook.engine.together import Branch, Together
    from hornbook.engine.work import Life, Lived, Settings, Work, settings

__all__ = [
    "Branch",
    "Cache",
    "CacheError",
    "Controls",
    "DiskCache",
    "Engine",
    "Hit",
    "Life",
    "Lived",
    "MemoryCache",
    "Settings",
    "StepTimeout",
    "Together",
    "Work",
    "decided",
    "invoke",
    "settings",
]

__getattr__, __dir__ = lazy.attach(
    __name__,
    {
        "Branch": "hornbook.engine.together",
        "Cache": "hornbook.engine.caching",
        "CacheError": "hornbook.engine.errors",
        "Controls": "hornbook.engine.controls",
        "DiskCache": "hornbook.engine.disk",
        "Engine": "hornbook.engine.engine",
        "Hit": "hornbook.engine.caching",
        "Life": "hornbook.engine.work",
        "Lived": "hornbook.engine.work",
        "MemoryCache": "hornbook.engine.caching",
        "Settings": "hornbook.engine.work",
        "StepTimeout": "hornbook.engine.errors",
        "Together": "hornbook.engine.together",
        "Work": "hornbook.engine.work",
        "decided": "hornbook.engine.deciding",
        "invoke": "hornbook.engine.invoking",
        "settings": "hornbook.engine.work",
    },
)
