"""Records for training: the messages that ``headrace.io.parse_example`` reads, for writing. Named as in ``tf.train``.

The records are message classes of the package ``protobuf``, which is imported when one is first used. So they have
the methods (``SerializeToString``, ``FromString``, ``HasField``, ``CopyFrom`` ...), the text form and the errors
(``google.protobuf.message.DecodeError`` for damaged bytes) of that package. ``ClusterSpec`` is the class
``headrace.distribute.cluster_resolver.ClusterSpec``.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from ._missing import missing as _missing

__all__ = ["BytesList", "ClusterSpec", "Example", "Feature", "FeatureList", "FeatureLists", "Features", "FloatList", "Int64List",
           "SequenceExample"]

if TYPE_CHECKING:
    from .distribute.cluster_resolver import ClusterSpec
    from ._train.types import (
        BytesList, Example, Feature, FeatureList, FeatureLists, Features, FloatList, Int64List, SequenceExample,
    )
else:
    def __getattr__(name: str) -> Any:
        if name not in __all__:
            _missing("train", name)
        if name == "ClusterSpec":  # the class belongs to clusters, whose package imports other modules
            from .distribute.cluster_resolver import ClusterSpec

            return ClusterSpec
        from ._train.messages import classes_of

        classes = classes_of(__name__)
        vars(sys.modules[__name__]).update(classes)
        return classes[name]

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
