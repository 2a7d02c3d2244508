"""headrace: input pipelines for training, on as many hosts as the trainers need.

Classes, methods and arguments have the names that they have in tf.data.

>>> import headrace as hr
>>> for x in hr.Dataset.range(10).map(lambda x: x * x).batch(4):
...     print(x)
[0 1 4 9]
[16 25 36 49]
[64 81]

The examples below begin with ``import headrace as hr``, ``import numpy as np`` and ``from headrace import Dataset,
TensorSpec``; ``folder`` is an empty folder, and ``images`` a dataset of one image:
``Dataset.from_tensors(np.arange(12, dtype=np.uint8).reshape(2, 2, 3))``.
"""

from typing import TYPE_CHECKING as _TYPE_CHECKING

from . import _load  # isort: skip
from . import _core  # isort: skip
from . import autograph, debugging, errors, image, io, lookup, math, ragged, random, strings, train
from ._functions.array_ops import (
    argsort, cast, clip_by_value, cond, constant, control_dependencies, convert_to_tensor, fill, identity, matmul, one_hot, ones, sort, where,
    while_loop, zeros,
)
from ._functions.composed import (boolean_mask, case, eye, linspace, ones_like, repeat, sequence_mask, split,
                                  zeros_like)
from ._functions.composed import range_ as range
from ._dataset import (
    AUTOTUNE, INFINITE_CARDINALITY, UNKNOWN_CARDINALITY, Dataset, FixedLengthRecordDataset, TFRecordDataset,
    TextLineDataset,
)
from .debugging import Assert, assert_equal, assert_greater, assert_less, assert_rank
from ._processes.lifetime import _register
from ._missing import names_of as _names_of
from ._options import Options
from ._processes.python import NamedFunction, PyFunction, load_plugin, named_function, numpy_function, py_function
from ._functions.ragged import RaggedTensor, RaggedTensorSpec
from ._functions.shaping import slice_ as slice
from ._functions.shaping import (
    concat, ensure_shape, expand_dims, gather, pad, rank, reshape, reverse, roll, shape, size, squeeze, stack, tile,
    transpose, unstack,
)
from ._specs import DatasetSpec, TensorSpec
from ._tensors.tensor import Tensor
from ._tensor_shape import TensorShape
from .dtypes import (
    DType, as_dtype, bfloat16, bool, complex64, complex128, double, float16, float32, float64, half, int8, int16,
    int32, int64, string, uint8, uint16, uint32, uint64,
)
from .math import (
    abs, add, argmax, argmin, cumsum, divide, equal, exp, floor, greater, greater_equal, less, less_equal, logical_and,
    logical_not, logical_or, maximum, minimum, multiply, negative, not_equal, pow, reduce_all, reduce_any, reduce_max,
    reduce_mean, reduce_min, reduce_prod, reduce_sum, round, sign, sin, cos, sqrt, square, subtract, tanh, truediv,
)
from . import data, distribute, experimental, service  # isort: skip

__version__ = "0.1.0"

#: For indexing: an axis of extent 1.
newaxis = None

__all__ = [
    "AUTOTUNE", "Assert", "DType", "Dataset", "DatasetSpec", "FixedLengthRecordDataset", "INFINITE_CARDINALITY",
    "NamedFunction", "Options", "PyFunction", "RaggedTensor", "RaggedTensorSpec", "TFRecordDataset", "Tensor",
    "TensorShape", "TensorSpec", "TextLineDataset", "UNKNOWN_CARDINALITY", "abs", "add", "argmax", "argmin",
    "argsort", "as_dtype", "assert_equal", "assert_greater", "assert_less", "assert_rank", "autograph", "bfloat16", "bool", "boolean_mask", "case", "cast", "clip_by_value", "complex128",
    "complex64", "concat", "cond", "constant", "control_dependencies", "convert_to_tensor", "cos", "cumsum", "data", "debugging",
    "distribute", "divide", "double", "ensure_shape", "equal", "errors", "exp", "expand_dims", "experimental", "eye", "fill",
    "float16", "float32", "float64", "floor", "gather", "greater", "greater_equal", "half", "identity", "image",
    "int16", "int32", "int64", "int8", "io", "less", "less_equal", "linspace", "load_plugin", "logical_and", "logical_not",
    "logical_or", "lookup", "math", "matmul", "maximum", "minimum", "multiply", "named_function", "negative",
    "newaxis", "not_equal", "numpy_function", "one_hot", "ones", "ones_like", "pad", "pow", "py_function", "ragged", "random", "range",
    "rank", "reduce_all", "reduce_any", "reduce_max", "reduce_mean", "reduce_min", "reduce_prod", "reduce_sum",
    "repeat", "reshape", "reverse", "roll", "round", "sequence_mask", "service", "shape", "sign", "sin", "size",
    "slice", "sort", "split", "sqrt", "square", "squeeze", "stack", "string", "strings", "subtract", "tanh",
    "tile", "train", "transpose", "truediv", "uint16", "uint32", "uint64", "uint8", "unstack", "where", "while_loop",
    "zeros", "zeros_like",
]

if _TYPE_CHECKING:
    from . import dask, ray
else:
    __getattr__ = _names_of("")

_register()
