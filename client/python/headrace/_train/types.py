"""The message classes of ``headrace.train`` for type checkers. The real classes are made when they are first used."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, MutableMapping, MutableSequence
from typing import Any, TypeVar

_M = TypeVar("_M", bound="Message")


class Message:
    """The part of ``google.protobuf.message.Message`` that all messages have."""

    DESCRIPTOR: Any

    def SerializeToString(self, *, deterministic: bool | None = None) -> bytes: ...  # type: ignore[empty-body]
    def ParseFromString(self, serialized: bytes) -> int: ...  # type: ignore[empty-body]
    def MergeFromString(self, serialized: bytes) -> int: ...  # type: ignore[empty-body]
    @classmethod
    def FromString(cls: type[_M], s: bytes) -> _M: ...  # type: ignore[empty-body]
    def ByteSize(self) -> int: ...  # type: ignore[empty-body]
    def HasField(self, field_name: str) -> bool: ...  # type: ignore[empty-body]
    def ClearField(self, field_name: str) -> None: ...
    def Clear(self) -> None: ...
    def CopyFrom(self: _M, other_msg: _M) -> None: ...
    def MergeFrom(self: _M, other_msg: _M) -> None: ...
    def ListFields(self) -> list[tuple[Any, Any]]: ...  # type: ignore[empty-body]


class BytesList(Message):
    value: MutableSequence[bytes]
    def __init__(self, *, value: Iterable[bytes] | None = None) -> None: ...


class FloatList(Message):
    value: MutableSequence[float]
    def __init__(self, *, value: Iterable[float] | None = None) -> None: ...


class Int64List(Message):
    value: MutableSequence[int]
    def __init__(self, *, value: Iterable[int] | None = None) -> None: ...


class Feature(Message):
    bytes_list: BytesList
    float_list: FloatList
    int64_list: Int64List
    def __init__(self, *, bytes_list: BytesList | None = None, float_list: FloatList | None = None,
                 int64_list: Int64List | None = None) -> None: ...
    def WhichOneof(self, oneof_group: str) -> str | None: ...


class Features(Message):
    feature: MutableMapping[str, Feature]
    def __init__(self, *, feature: Mapping[str, Feature] | None = None) -> None: ...


class FeatureList(Message):
    feature: MutableSequence[Feature]
    def __init__(self, *, feature: Iterable[Feature] | None = None) -> None: ...


class FeatureLists(Message):
    feature_list: MutableMapping[str, FeatureList]
    def __init__(self, *, feature_list: Mapping[str, FeatureList] | None = None) -> None: ...


class Example(Message):
    features: Features
    def __init__(self, *, features: Features | None = None) -> None: ...


class SequenceExample(Message):
    context: Features
    feature_lists: FeatureLists
    def __init__(self, *, context: Features | None = None, feature_lists: FeatureLists | None = None) -> None: ...
