"""Records for training: the messages that ``headrace.io.parse_example`` reads, for writing. Named as in ``tf.train``."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy as np

from ._missing import names_of as _names_of
from .errors import DataLossError

if not TYPE_CHECKING:
    __getattr__ = _names_of("train")

# The wire format of protocol buffers, as far as these messages need it.


def _varint(x: int) -> bytes:
    out = bytearray()
    while x >= 0x80:
        out.append(x & 0x7f | 0x80)
        x >>= 7
    out.append(x)
    return bytes(out)


def _field(number: int, content: bytes) -> bytes:
    return _varint(number << 3 | 2) + _varint(len(content)) + content


def _read_varint(data: bytes, at: int) -> tuple[int, int]:
    out = shift = 0
    while True:
        if at >= len(data) or shift > 63:
            raise DataLossError("the record ends within a number, or is no protocol buffer")
        byte = data[at]
        at += 1
        out |= (byte & 0x7f) << shift
        if byte < 0x80:
            return out & (1 << 64) - 1, at
        shift += 7


def _fields(data: bytes) -> Iterator[tuple[int, int, Any]]:
    """Number, wire type and content of each field."""
    at = 0
    while at < len(data):
        tag, at = _read_varint(data, at)
        number, wire = tag >> 3, tag & 7
        if wire == 0:
            content: Any
            content, at = _read_varint(data, at)
        else:
            size = {1: 8, 5: 4}.get(wire)
            if wire == 2:
                size, at = _read_varint(data, at)
            if size is None or at + size > len(data):
                raise DataLossError(f"field {number} of the record is cut off, or is of a kind that these messages lack")
            content, at = data[at:at + size], at + size
        yield number, wire, content


class _Values(list[Any]):
    """A list whose values are converted as they come. ``changed`` is called when there are more."""

    def __init__(self, convert: Callable[[Any], Any], values: Iterable[Any] = ()) -> None:
        super().__init__(map(convert, values))
        self._convert = convert
        self.changed: Callable[[], None] = lambda: None

    def append(self, value: Any) -> None:
        super().append(self._convert(value))
        self.changed()

    def extend(self, values: Iterable[Any]) -> None:
        super().extend(list(map(self._convert, values)))
        self.changed()

    def insert(self, index: SupportsIndex, value: Any) -> None:
        super().insert(index, self._convert(value))
        self.changed()

    def __setitem__(self, index: Any, value: Any) -> None:
        super().__setitem__(index, list(map(self._convert, value)) if isinstance(index, slice) else self._convert(value))
        self.changed()

    def __iadd__(self, values: Iterable[Any]) -> _Values:  # type: ignore[misc]
        self.extend(values)
        return self


class _Message:
    """What all messages have."""

    __slots__ = ()

    def _parts(self) -> bytes:
        raise NotImplementedError

    def _merge(self, data: bytes) -> None:
        raise NotImplementedError

    def SerializeToString(self, deterministic: bool | None = None) -> bytes:
        """The message as bytes. Names come in their order, so that equal messages have equal bytes.

        >>> hr.train.Int64List(value=[3]).SerializeToString()
        b'\\n\\x01\\x03'
        """
        return self._parts()

    def MergeFromString(self, serialized: bytes) -> int:
        """Adds what the bytes hold. Returns how many bytes there were. Raises ``DataLossError`` for damaged ones.

        >>> numbers = hr.train.Int64List(value=[3])
        >>> numbers.MergeFromString(hr.train.Int64List(value=[4]).SerializeToString()), numbers.value
        (3, [3, 4])
        """
        if not isinstance(serialized, (bytes, bytearray, memoryview)):
            raise TypeError(f"{type(self).__name__}: serialized must be bytes, not {type(serialized).__name__}")
        self._merge(bytes(serialized))
        return len(serialized)

    def ParseFromString(self, serialized: bytes) -> int:
        """Becomes what the bytes hold. Returns how many bytes there were. Raises ``DataLossError`` for damaged ones.

        >>> numbers = hr.train.Int64List(value=[3])
        >>> numbers.ParseFromString(hr.train.Int64List(value=[4]).SerializeToString()), numbers.value
        (3, [4])
        """
        self.__init__()  # type: ignore[misc]
        return self.MergeFromString(serialized)

    @classmethod
    def FromString(cls, serialized: bytes) -> Any:
        """The message that the bytes hold. Raises ``DataLossError`` for damaged ones.

        >>> hr.train.Int64List.FromString(hr.train.Int64List(value=[4]).SerializeToString()).value
        [4]
        """
        out = cls()
        out.MergeFromString(serialized)
        return out

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self).FromString, (self.SerializeToString(),)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Message) and type(self) is type(other) and self._parts() == other._parts()

    __hash__ = None  # type: ignore[assignment]


class _ListOfValues(_Message):
    __slots__ = ("_value",)

    @staticmethod
    def _convert(value: Any) -> Any:
        raise NotImplementedError

    def __init__(self, value: Iterable[Any] = ()) -> None:
        self._value = _Values(self._convert, value)

    @property
    def value(self) -> list[Any]:
        """The values: a list, to which more can be added.

        >>> hr.train.Int64List(value=[3]).value
        [3]
        """
        return self._value

    def __repr__(self) -> str:
        return f"{type(self).__name__}(value={list(self._value)!r})"


class BytesList(_ListOfValues):
    """Byte strings.

    >>> hr.train.BytesList(value=[b"one"]).value
    [b'one']
    """

    __slots__ = ()

    @staticmethod
    def _convert(value: Any) -> bytes:
        if not isinstance(value, bytes):
            raise TypeError(f"BytesList holds bytes, not {type(value).__name__}: {value!r:.60}")
        return value

    def _parts(self) -> bytes:
        return b"".join(_field(1, x) for x in self._value)

    def _merge(self, data: bytes) -> None:
        self._value.extend(content for number, wire, content in _fields(data) if number == 1 and wire == 2)


class FloatList(_ListOfValues):
    """float32 numbers.

    >>> hr.train.FloatList(value=[0.5, 2]).value
    [0.5, 2.0]
    """

    __slots__ = ()

    @staticmethod
    def _convert(value: Any) -> float:
        if isinstance(value, (str, bytes)):
            raise TypeError(f"FloatList holds numbers, not {type(value).__name__}: {value!r:.60}")
        with np.errstate(over="ignore"):
            return float(np.float32(value))

    def _parts(self) -> bytes:
        return _field(1, struct.pack(f"<{len(self._value)}f", *self._value)) if self._value else b""

    def _merge(self, data: bytes) -> None:
        for number, wire, content in _fields(data):
            if number == 1 and wire in (2, 5):
                if len(content) % 4:
                    raise DataLossError("a list of floats in the record is cut off")
                self._value.extend(struct.unpack(f"<{len(content) // 4}f", content))


class Int64List(_ListOfValues):
    """int64 numbers.

    >>> hr.train.Int64List(value=[1, -2]).value
    [1, -2]
    """

    __slots__ = ()

    @staticmethod
    def _convert(value: Any) -> int:
        try:
            number = value.__index__()
        except AttributeError:
            raise TypeError(f"Int64List holds ints, not {type(value).__name__}: {value!r:.60}") from None
        if not -2**63 <= number < 2**63:
            raise ValueError(f"Int64List holds numbers of 64 bits, not {number}")
        return int(number)

    def _parts(self) -> bytes:
        return _field(1, b"".join(_varint(x & (1 << 64) - 1) for x in self._value)) if self._value else b""

    def _merge(self, data: bytes) -> None:
        def signed(x: int) -> int:
            return x - (1 << 64) if x >= 1 << 63 else x

        for number, wire, content in _fields(data):
            if number == 1 and wire == 0:
                self._value.append(signed(content))
            elif number == 1 and wire == 2:
                at = 0
                while at < len(content):
                    x, at = _read_varint(content, at)
                    self._value.append(signed(x))


#: The kinds of a feature, by their field numbers.
_KINDS: dict[int, tuple[str, type[_ListOfValues]]] = {
    1: ("bytes_list", BytesList), 2: ("float_list", FloatList), 3: ("int64_list", Int64List)}


class Feature(_Message):
    """The values of one name: a ``BytesList``, a ``FloatList`` or an ``Int64List``.

    Raises ``ValueError`` for more than one of them.

    >>> feature = hr.train.Feature(int64_list=hr.train.Int64List(value=[3]))
    >>> feature.WhichOneof("kind"), feature.int64_list.value
    ('int64_list', [3])
    """

    __slots__ = ("_kind", "_lists")

    def __init__(self, bytes_list: BytesList | None = None, float_list: FloatList | None = None,
                 int64_list: Int64List | None = None) -> None:
        given = {"bytes_list": bytes_list, "float_list": float_list, "int64_list": int64_list}
        self._kind: str | None = None
        self._lists: dict[str, _ListOfValues] = {}
        for name, kind in _KINDS.values():
            value = given[name]
            if value is None:
                continue
            if not isinstance(value, kind):
                raise TypeError(f"Feature: {name} must be a {kind.__name__}, not {type(value).__name__}")
            if self._kind:
                raise ValueError(f"Feature: it has one kind of values, and {[self._kind, name]} were given")
            self._list(name, kind, value.value)
            self._become(name)

    def _list(self, name: str, kind: type[_ListOfValues], values: Iterable[Any] = ()) -> Any:
        if name not in self._lists:
            made = self._lists[name] = kind(values)
            made._value.changed = lambda: self._become(name)
        return self._lists[name]

    def _become(self, name: str) -> None:
        """The list that was given values last has those of the feature, and the others have none."""
        self._kind = name
        for other in [x for x in self._lists if x != name]:
            self._lists[other]._value.changed = lambda: None
            del self._lists[other]

    @property
    def bytes_list(self) -> BytesList:
        """Its byte strings.

        >>> hr.train.Feature().bytes_list.value
        []
        """
        return self._list("bytes_list", BytesList)

    @property
    def float_list(self) -> FloatList:
        """Its float32 numbers.

        >>> hr.train.Feature().float_list.value
        []
        """
        return self._list("float_list", FloatList)

    @property
    def int64_list(self) -> Int64List:
        """Its int64 numbers.

        >>> hr.train.Feature().int64_list.value
        []
        """
        return self._list("int64_list", Int64List)

    def WhichOneof(self, oneof_group: str) -> str | None:
        """The name of the list that has its values, or None. ``oneof_group`` is ``"kind"``.

        >>> hr.train.Feature().WhichOneof("kind")
        """
        if oneof_group != "kind":
            raise ValueError(f"Feature has the group 'kind', not {oneof_group!r}")
        return self._kind

    def _parts(self) -> bytes:
        which = self.WhichOneof("kind")
        return b"".join(_field(number, self._lists[name]._parts()) for number, (name, _) in _KINDS.items()
                        if name == which)

    def _merge(self, data: bytes) -> None:
        for number, wire, content in _fields(data):
            if number in _KINDS and wire == 2:
                name, kind = _KINDS[number]
                self._list(name, kind)._merge(content)
                self._become(name)

    def __repr__(self) -> str:
        which = self.WhichOneof("kind")
        return f"Feature({which}={self._lists[which]!r})" if which else "Feature()"


class _ByName(dict[str, Any]):
    """Messages by name; a name that is not there is made when it is asked for, as in protocol buffers."""

    def __init__(self, kind: type[_Message], given: Mapping[str, Any]) -> None:
        super().__init__()
        self._kind = kind
        for name, value in given.items():
            self[name] = value

    def __setitem__(self, name: str, value: Any) -> None:
        if not isinstance(name, str):
            raise TypeError(f"names must be str, not {type(name).__name__}: {name!r:.60}")
        if not isinstance(value, self._kind):
            raise TypeError(f"'{name}' must be a {self._kind.__name__}, not {type(value).__name__}")
        super().__setitem__(name, value)

    def __missing__(self, name: str) -> Any:
        self[name] = self._kind()
        return self[name]

    def _parts(self) -> bytes:
        return b"".join(_field(1, _field(1, name.encode()) + _field(2, self[name]._parts())) for name in sorted(self))

    def _merge(self, data: bytes) -> None:
        for number, wire, entry in _fields(data):
            if number != 1 or wire != 2:
                continue
            name, value = b"", b""
            for part, kind, content in _fields(entry):
                if part == 1 and kind == 2:
                    name = content
                elif part == 2 and kind == 2:
                    value = content
            try:
                self[name.decode()] = self._kind.FromString(value)
            except UnicodeDecodeError:
                raise DataLossError(f"a name in the record is no UTF-8: {name!r:.60}") from None


class _Named(_Message):
    __slots__ = ("_by_name",)
    _by_name: _ByName

    def _parts(self) -> bytes:
        return self._by_name._parts()

    def _merge(self, data: bytes) -> None:
        self._by_name._merge(data)


class Features(_Named):
    """Features by their names.

    >>> features = hr.train.Features(feature={"n": hr.train.Feature(int64_list=hr.train.Int64List(value=[3]))})
    >>> features.feature["n"].int64_list.value
    [3]
    """

    __slots__ = ()

    def __init__(self, feature: Mapping[str, Feature] = {}) -> None:
        self._by_name = _ByName(Feature, feature)

    @property
    def feature(self) -> dict[str, Feature]:
        """The features; one that is not there is made when it is asked for.

        >>> hr.train.Features().feature
        {}
        """
        return self._by_name

    def __repr__(self) -> str:
        return f"Features(feature={dict(self._by_name)!r})"


class FeatureList(_Message):
    """The features of one name in a sequence, step by step.

    >>> len(hr.train.FeatureList(feature=[hr.train.Feature()]).feature)
    1
    """

    __slots__ = ("_feature",)

    @staticmethod
    def _convert(value: Any) -> Feature:
        if not isinstance(value, Feature):
            raise TypeError(f"FeatureList holds Features, not {type(value).__name__}")
        return value

    def __init__(self, feature: Iterable[Feature] = ()) -> None:
        self._feature = _Values(self._convert, feature)

    @property
    def feature(self) -> list[Feature]:
        """The features: a list, to which more can be added.

        >>> hr.train.FeatureList().feature
        []
        """
        return self._feature

    def _parts(self) -> bytes:
        return b"".join(_field(1, x._parts()) for x in self._feature)

    def _merge(self, data: bytes) -> None:
        self._feature.extend(Feature.FromString(content) for number, wire, content in _fields(data)
                             if number == 1 and wire == 2)

    def __repr__(self) -> str:
        return f"FeatureList(feature={list(self._feature)!r})"


class FeatureLists(_Named):
    """Lists of features by their names.

    >>> hr.train.FeatureLists(feature_list={"a": hr.train.FeatureList()}).feature_list
    {'a': FeatureList(feature=[])}
    """

    __slots__ = ()

    def __init__(self, feature_list: Mapping[str, FeatureList] = {}) -> None:
        self._by_name = _ByName(FeatureList, feature_list)

    @property
    def feature_list(self) -> dict[str, FeatureList]:
        """The lists; one that is not there is made when it is asked for.

        >>> hr.train.FeatureLists().feature_list
        {}
        """
        return self._by_name

    def __repr__(self) -> str:
        return f"FeatureLists(feature_list={dict(self._by_name)!r})"


class _OfParts(_Message):
    """A message of other messages."""

    __slots__ = ("_of_parts",)
    _names: dict[int, tuple[str, type[_Message]]] = {}

    def __init__(self, **given: Any) -> None:
        self._of_parts: dict[str, _Message] = {}
        for _, (name, kind) in self._names.items():
            value = given.get(name)
            if value is not None and not isinstance(value, kind):
                raise TypeError(f"{type(self).__name__}: {name} must be {kind.__name__}, not {type(value).__name__}")
            self._of_parts[name] = kind() if value is None else value

    def _parts(self) -> bytes:
        parts = [(number, self._of_parts[name]._parts()) for number, (name, _) in self._names.items()]
        return b"".join(_field(number, content) for number, content in parts if content)

    def _merge(self, data: bytes) -> None:
        for number, wire, content in _fields(data):
            if number in self._names and wire == 2:
                self._of_parts[self._names[number][0]]._merge(content)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={x!r}' for name, x in self._of_parts.items())})"


class Example(_OfParts):
    """A record with named features, which ``headrace.io.parse_single_example`` reads.

    >>> example = hr.train.Example(features=hr.train.Features(feature={
    ...     "n": hr.train.Feature(int64_list=hr.train.Int64List(value=[3]))}))
    >>> hr.train.Example.FromString(example.SerializeToString()).features.feature["n"].int64_list.value
    [3]
    """

    __slots__ = ()
    _names = {1: ("features", Features)}

    def __init__(self, features: Features | None = None) -> None:
        super().__init__(features=features)

    @property
    def features(self) -> Features:
        """Its features.

        >>> hr.train.Example().features
        Features(feature={})
        """
        return self._of_parts["features"]  # type: ignore[return-value]


class SequenceExample(_OfParts):
    """A record with named features and named lists of features.

    >>> hr.train.SequenceExample().feature_lists
    FeatureLists(feature_list={})
    """

    __slots__ = ()
    _names = {1: ("context", Features), 2: ("feature_lists", FeatureLists)}

    def __init__(self, context: Features | None = None, feature_lists: FeatureLists | None = None) -> None:
        super().__init__(context=context, feature_lists=feature_lists)

    @property
    def context(self) -> Features:
        """The features of the whole.

        >>> hr.train.SequenceExample().context
        Features(feature={})
        """
        return self._of_parts["context"]  # type: ignore[return-value]

    @property
    def feature_lists(self) -> FeatureLists:
        """The features of its steps.

        >>> hr.train.SequenceExample().feature_lists.feature_list
        {}
        """
        return self._of_parts["feature_lists"]  # type: ignore[return-value]


__all__ = ["BytesList", "Example", "Feature", "FeatureList", "FeatureLists", "Features", "FloatList", "Int64List",
           "SequenceExample"]
