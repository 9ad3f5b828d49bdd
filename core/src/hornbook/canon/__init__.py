"""One plain JSON form for any Python value, and one way to write it as bytes.

`encode` never raises: what JSON cannot say is tagged (`{"$tuple": [1, 2]}`), and what cannot
be read back is described (`{"$repr": ..., "$type": ...}`). The bytes do not depend on which
JSON library is installed.
"""

from hornbook.canon.decoding import Opaque, decode
from hornbook.canon.encoding import WITHHELD, Rules, cut_of, digest, dumps, encode
from hornbook.canon.wire import JSON, CanonError, has_surrogate, loads, serialise, sha256

__all__ = [
    "JSON",
    "WITHHELD",
    "CanonError",
    "Opaque",
    "Rules",
    "cut_of",
    "decode",
    "digest",
    "dumps",
    "encode",
    "has_surrogate",
    "loads",
    "serialise",
    "sha256",
]
