"""Records of files."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import _core
from .._tensors.values import integer
from .arguments import AUTOTUNE, Int, Names, compression, names, parallel_calls
from .dataset import Dataset


class _FileDataset(Dataset):
    """Records of files, read from ``num_parallel_reads`` files at a time."""

    __slots__ = ()

    def __init__(self, filenames: Names, read: Callable[[_core.Tensor], _core.Graph], num_parallel_reads: Int | None,
                 buffer_size: Int | None) -> None:
        if buffer_size is not None:
            integer(buffer_size, "buffer_size")
        of_file = lambda name: Dataset(read(_core.reshape(name, [])))  # noqa: E731
        inputs: Dataset
        if isinstance(filenames, Dataset):
            inputs = filenames
        elif num_parallel_reads is None:
            super().__init__(read(names(filenames, "filenames")))
            return
        else:
            inputs = Dataset.from_tensor_slices(_core.reshape(names(filenames, "filenames"), [-1]))
        if num_parallel_reads is None:
            super().__init__(inputs.flat_map(of_file)._graph)
            return
        reads = parallel_calls(num_parallel_reads)
        super().__init__(inputs.interleave(of_file, 16 if reads == AUTOTUNE else reads,
                                           num_parallel_calls=num_parallel_reads)._graph)


class TFRecordDataset(_FileDataset):
    """The records of TFRecord files, as ``bytes``; their checksums are verified.

    ``filenames``: a name, several, a tensor of a traced function, or a dataset of names. ``compression_type``: ``""``,
    ``"GZIP"`` or ``"ZLIB"``. ``num_parallel_reads``: files read at a time, interleaved; None reads one after another.
    ``buffer_size`` has no effect: headrace chooses the size. Elements are scalars: ``TensorSpec([], string)``.

    Raises ``TypeError`` or ``InvalidArgumentError`` for wrong arguments. When the dataset is read, a missing file is
    a ``NotFoundError``, and a damaged record a ``DataLossError``; both name the file.

    >>> import os, tempfile
    >>> import headrace as hr
    >>> path = os.path.join(tempfile.mkdtemp(), "some.tfrecord")
    >>> with hr.io.TFRecordWriter(path) as to:
    ...     to.write(b"one")
    ...     to.write(b"two")
    >>> list(hr.TFRecordDataset([path]))
    [b'one', b'two']
    """

    __slots__ = ()

    def __init__(self, filenames: Names, compression_type: str | None = None, buffer_size: Int | None = None,
                 num_parallel_reads: Int | None = None, name: str | None = None) -> None:
        how = compression(compression_type)
        super().__init__(filenames, lambda files: _core.tfrecord(files, how), num_parallel_reads,
                         buffer_size)


class TextLineDataset(_FileDataset):
    """The lines of text files, as ``bytes`` without ``\\n`` or ``\\r\\n``: scalars. The arguments are those of
    ``TFRecordDataset``.

    Raises ``TypeError`` or ``InvalidArgumentError`` for wrong arguments. When the dataset is read, a missing file is
    a ``NotFoundError`` that names the file.

    >>> import os, tempfile
    >>> import headrace as hr
    >>> path = os.path.join(tempfile.mkdtemp(), "some.txt")
    >>> with open(path, "w") as to:
    ...     _ = to.write("one\\ntwo\\n")
    >>> list(hr.TextLineDataset(path))
    [b'one', b'two']
    """

    __slots__ = ()

    def __init__(self, filenames: Names, compression_type: str | None = None, buffer_size: Int | None = None,
                 num_parallel_reads: Int | None = None, name: str | None = None) -> None:
        how = compression(compression_type)
        super().__init__(filenames, lambda files: _core.text_lines(files, how), num_parallel_reads,
                         buffer_size)


class FixedLengthRecordDataset(_FileDataset):
    """Records of ``record_bytes`` bytes from binary files, as ``bytes``. The other arguments are those of
    ``TFRecordDataset``.

    ``header_bytes`` and ``footer_bytes`` at the ends of each file are left out. Elements are scalars.

    Raises ``TypeError`` or ``InvalidArgumentError`` for wrong arguments. When the dataset is read, a file whose size
    does not fit is an error that names the file.

    >>> import os, tempfile
    >>> import headrace as hr
    >>> path = os.path.join(tempfile.mkdtemp(), "some.bin")
    >>> with open(path, "wb") as to:
    ...     _ = to.write(b"-abcd")
    >>> list(hr.FixedLengthRecordDataset(path, 2, header_bytes=1))
    [b'ab', b'cd']
    """

    __slots__ = ()

    def __init__(self, filenames: Names, record_bytes: Int, header_bytes: Int | None = None,
                 footer_bytes: Int | None = None, buffer_size: Int | None = None, compression_type: str | None = None,
                 num_parallel_reads: Int | None = None, name: str | None = None) -> None:
        how = compression(compression_type)
        record = integer(record_bytes, "record_bytes")
        header = 0 if header_bytes is None else integer(header_bytes, "header_bytes")
        footer = 0 if footer_bytes is None else integer(footer_bytes, "footer_bytes")
        super().__init__(filenames, lambda files: _core.fixed_length(files, record, header, footer, how),
                         num_parallel_reads, buffer_size)
