"""The common part of all sides of the comparison: cases, sizes, files, and how a loop is timed."""

from __future__ import annotations

import os
import pathlib
import statistics
import struct
import sys
import time
from collections.abc import Callable, Iterable

#: The name and the unit of each case, in the order of the table.
CASES = {
    "scalars": "elements/s",
    "next_p50": "s",
    "batches_1000": "batches/s",
    "arrays_1m": "arrays/s",
    "map_traced": "elements/s",
    "map_python": "elements/s",
    "map_python_workers": "vectors/s",
    "map_python_images": "images/s",
    "float_chain": "vectors/s",
    "text": "lines/s",
    "example_parse": "examples/s",
    "jpeg_224": "images/s",
    "jpeg_batches": "images/s",
    "jpeg_crops": "images/s",
    "jpeg_at_least": "images/s",
    "jpeg_crops_10s": "images/s",
    "shuffle_10m": "elements/s",
    "global_shuffle_10m": "elements/s",
    "service_scalars": "elements/s",
    "service_map_traced": "elements/s",
    "service_map_python": "elements/s",
    "service_batches_1000": "batches/s",
    "service_arrays_1m": "arrays/s",
    "service_jpeg_crops": "images/s",
    "service_jpeg_crops_10s": "images/s",
}

SCALARS = 200_000
SERVICE_SCALARS = 50_000
SERVICE_MAPPED = 50_000
NEXTS = 50_000
BATCHES = 2_000
ARRAYS = 200
ARRAY_VALUES = 1 << 17
MAPPED = 100_000
BY_PYTHON = 10_000
FUNCTION_PROCESSES = 2
BY_WORKERS = 64_000
BY_WORKERS_BATCH = 64
PYTHON_IMAGES = 6_400
VECTORS = 100_000
LINES = 400_000
EXAMPLES = 50_000
DIFFERENT = 2_000
PIXELS = 64
IMAGES = 100
CROPPED = 1_280  # the number of images; cropping them takes about a second
CROPPED_LONG = 12_800
WORKERS = 2  # the workers of the service that crops images; each worker reads all images
CROP = 300
IN_BATCH = 32
SHUFFLED = 10_000_000
SHUFFLE_BUFFER = 1_000_000


def text_file(data: str) -> str:
    """A text file with lines of 36 bytes and their line ends."""
    return os.path.join(data, "lines.txt")


def example_file(data: str) -> str:
    """A file of tf.Examples with 64 floats, a label and a name."""
    return os.path.join(data, "examples.tfrecord")


def jpeg_file(data: str) -> str:
    """A JPEG of 512 by 512 pixels, quality 90."""
    return os.path.join(data, "image.jpeg")


def _message(field: int, body: bytes) -> bytes:
    return bytes([field << 3 | 2]) + _varint(len(body)) + body


def _varint(x: int) -> bytes:
    out = b""
    while x > 127:
        out += bytes([x & 127 | 128])
        x >>= 7
    return out + bytes([x])


def _example(n: int) -> bytes:
    def feature(name: str, kind: int, values: bytes) -> bytes:
        return _message(1, _message(1, name.encode()) + _message(2, _message(kind, values)))
    floats = struct.pack(f"<{PIXELS}f", *(float(n % 251 + i) for i in range(PIXELS)))
    return _message(1, feature("pixels", 2, _message(1, floats)) + feature("label", 3, _message(1, _varint(n % 10)))
                    + feature("name", 1, _message(1, b"example %d" % n)))


def _crc_table() -> list[int]:
    out = []
    for x in range(256):
        for _ in range(8):
            x = x >> 1 ^ (0x82F63B78 if x & 1 else 0)
        out.append(x)
    return out


_TABLE = _crc_table()


def _checksum(data: bytes) -> bytes:
    crc = 0xFFFFFFFF
    for x in data:
        crc = _TABLE[(crc ^ x) & 255] ^ crc >> 8
    crc ^= 0xFFFFFFFF
    return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)


def _record(data: bytes) -> bytes:
    """A record of a TFRecord file."""
    length = struct.pack("<Q", len(data))
    return length + _checksum(length) + data + _checksum(data)


def write(data: str) -> None:
    """Writes the files that all sides of the comparison read."""
    import headrace as hr

    with open(text_file(data), "w", encoding="ascii") as out:
        out.writelines(f"line {i} of a text that is read".ljust(36, ".") + "\n" for i in range(LINES))
    # There are only two thousand different records, because computing a checksum in Python takes long.
    some = b"".join(_record(_example(i)) for i in range(DIFFERENT))
    with open(example_file(data), "wb") as records:
        for _ in range(EXAMPLES // DIFFERENT):
            records.write(some)
    image = hr.Dataset.range(1).map(lambda _: hr.image.encode_jpeg(_image(hr), quality=90)).get_single_element()
    pathlib.Path(jpeg_file(data)).write_bytes(image)


def _image(hr: object) -> object:
    import numpy as np

    y, x, c = np.mgrid[0:512, 0:512, 0:3]
    noise = np.random.default_rng(1).integers(0, 16, (512, 512, 3))
    return ((x * y // 700 + 40 * c + noise) % 256).astype(np.uint8)


def rate(elements: Iterable[object], count: int, each: int = 1) -> float:
    """The elements per second of a loop over `elements`, without the first, so that the start-up is not counted."""
    it = iter(elements)
    next(it)
    begin = time.perf_counter()
    n = sum(1 for _ in it)
    took = time.perf_counter() - begin
    assert n == count - 1, (n, count)
    return n * each / took


def whole_rate(elements: Iterable[object], count: int, each: int = 1) -> float:
    """As `rate`, but including the time to the first element, which is most of the time if the pipeline reads all of
    its input before the first element.
    """
    begin = time.perf_counter()
    n = sum(1 for _ in elements)
    took = time.perf_counter() - begin
    assert n == count, (n, count)
    return n * each / took


def median_next(elements: Iterable[object]) -> float:
    """The median of the seconds of one next()."""
    it = iter(elements)
    clock = time.perf_counter
    times = []
    for _ in range(NEXTS):
        begin = clock()
        next(it)
        times.append(clock() - begin)
    return statistics.median(times)


def serve(cases: dict[str, Callable[[], float]]) -> None:
    """Measures the case that each line of the standard input names, until the input ends."""
    print("answer", *cases, flush=True)
    for line in sys.stdin:
        print("answer", cases[line.strip()](), flush=True)
    os._exit(0)
