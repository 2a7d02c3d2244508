"""Makes the message classes of ``headrace.train`` from the tables of fields in this file, so that no generated code
is needed.
"""

from __future__ import annotations

import functools
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

#: The fields of each message, as (number, name, type). The type is a scalar type or the name of another message, with
#: a word before it if the field is repeated, belongs to a oneof, or is a map, whose keys are strings.
_FIELDS: dict[str, list[tuple[int, str, str]]] = {
    "BytesList": [(1, "value", "repeated bytes")],
    "FloatList": [(1, "value", "repeated float")],
    "Int64List": [(1, "value", "repeated int64")],
    "Feature": [(1, "bytes_list", "oneof BytesList"), (2, "float_list", "oneof FloatList"),
                (3, "int64_list", "oneof Int64List")],
    "Features": [(1, "feature", "map Feature")],
    "FeatureList": [(1, "feature", "repeated Feature")],
    "FeatureLists": [(1, "feature_list", "map FeatureList")],
    "Example": [(1, "features", "Features")],
    "SequenceExample": [(1, "context", "Features"), (2, "feature_lists", "FeatureLists")],
}

_DOCUMENTATION = {
    "BytesList": """Byte strings: ``value``.

    >>> hr.train.BytesList(value=[b"one"]).value
    [b'one']
    """,
    "FloatList": """float32 numbers: ``value``.

    >>> hr.train.FloatList(value=[0.5, 2]).value
    [0.5, 2.0]
    """,
    "Int64List": """int64 numbers: ``value``.

    >>> hr.train.Int64List(value=[1, -2]).value
    [1, -2]
    """,
    "Feature": """The values of one name: ``bytes_list``, ``float_list`` or ``int64_list``, the one that was set last.

    >>> feature = hr.train.Feature(int64_list=hr.train.Int64List(value=[3]))
    >>> feature.WhichOneof("kind"), feature.int64_list.value
    ('int64_list', [3])
    """,
    "Features": """Features by their names: ``feature``. One that is not there is made when it is asked for.

    >>> features = hr.train.Features(feature={"n": hr.train.Feature(int64_list=hr.train.Int64List(value=[3]))})
    >>> features.feature["n"].int64_list.value
    [3]
    """,
    "FeatureList": """The features of one name in a sequence, step by step: ``feature``.

    >>> len(hr.train.FeatureList(feature=[hr.train.Feature()]).feature)
    1
    """,
    "FeatureLists": """Lists of features by their names: ``feature_list``.

    >>> list(hr.train.FeatureLists(feature_list={"a": hr.train.FeatureList()}).feature_list)
    ['a']
    """,
    "Example": """A record with named features, which ``headrace.io.parse_single_example`` reads.

    >>> example = hr.train.Example(features=hr.train.Features(feature={
    ...     "n": hr.train.Feature(int64_list=hr.train.Int64List(value=[3]))}))
    >>> hr.train.Example.FromString(example.SerializeToString()).features.feature["n"].int64_list.value
    [3]
    """,
    "SequenceExample": """A record with named features, ``context``, and named lists of features, ``feature_lists``.

    >>> steps = hr.train.FeatureList(feature=[hr.train.Feature(int64_list=hr.train.Int64List(value=[3]))])
    >>> record = hr.train.SequenceExample(feature_lists=hr.train.FeatureLists(feature_list={"s": steps}))
    >>> record.feature_lists.feature_list["s"].feature[0].int64_list.value
    [3]
    """,
}

#: The protobuf package of these messages in TensorFlow. It is used here, so that type names and text forms are equal
#: to those of TensorFlow.
_PACKAGE = "tensorflow"


def _described() -> Any:
    """The messages in the form of a protocol buffer file."""
    kinds = descriptor_pb2.FieldDescriptorProto
    scalars = {"bytes": kinds.TYPE_BYTES, "float": kinds.TYPE_FLOAT, "int64": kinds.TYPE_INT64}
    file = descriptor_pb2.FileDescriptorProto(name="headrace/train.proto", package=_PACKAGE, syntax="proto3")
    for message, fields in _FIELDS.items():
        described = file.message_type.add(name=message)
        for number, name, text in fields:
            rule, _, kind = text.rpartition(" ")
            field = described.field.add(name=name, number=number)
            field.label = kinds.LABEL_REPEATED if rule in ("repeated", "map") else kinds.LABEL_OPTIONAL
            if rule == "map":
                entry = described.nested_type.add(name=name.title().replace("_", "") + "Entry")
                entry.options.map_entry = True
                entry.field.add(name="key", number=1, label=kinds.LABEL_OPTIONAL, type=kinds.TYPE_STRING)
                entry.field.add(name="value", number=2, label=kinds.LABEL_OPTIONAL, type=kinds.TYPE_MESSAGE,
                                type_name=f".{_PACKAGE}.{kind}")
                kind = f"{message}.{entry.name}"
            if rule == "oneof":
                if not described.oneof_decl:
                    described.oneof_decl.add(name="kind")
                field.oneof_index = 0
            if kind in scalars:
                field.type = scalars[kind]
            else:
                field.type, field.type_name = kinds.TYPE_MESSAGE, f".{_PACKAGE}.{kind}"
    return file


#: The classes of the entries of maps. Some releases of protobuf require them to exist, and do not keep references to
#: them.
_entries: list[Any] = []


@functools.lru_cache(maxsize=None)
def classes_of(module: str) -> dict[str, Any]:
    """The classes by name, as if they were defined in that module."""
    # The messages have a descriptor pool of their own: TensorFlow registers messages with the same names in the
    # default pool.
    pool = descriptor_pool.DescriptorPool()
    pool.AddSerializedFile(_described().SerializeToString())
    file = pool.FindFileByName("headrace/train.proto")
    classes: dict[str, Any] = {}
    for name, text in _DOCUMENTATION.items():
        described = file.message_types_by_name[name]
        made = classes[name] = message_factory.GetMessageClass(described)
        # Pickles of messages name their class by this module.
        made.__module__, made.__doc__ = module, text
        for entry in map(message_factory.GetMessageClass, described.nested_types):
            entry.__module__, entry.__qualname__ = module, f"{name}.{entry.__name__}"
            _entries.append(entry)
    return classes
