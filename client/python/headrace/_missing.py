"""Names in TensorFlow's documentation that this release does not have: using one raises an error that explains this."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any, NoReturn

from .errors import UnimplementedError

_INPUT_ONLY = "headrace.distribute.LocalStrategy and ProcessStrategy divide the input; the framework trains"

#: By module or class, the names that are missing, each with its replacement; an empty text: there is no replacement.
MISSING: dict[str, dict[str, str]] = {
    "": {
        "DeviceSpec": "elements are on the CPU; headrace.torch and headrace.jax hand them on",
        "GradientTape": "models are those of JAX, PyTorch or Keras: headrace.jax, headrace.torch, headrace.keras",
        "Module": "models are those of JAX, PyTorch or Keras: headrace.jax, headrace.torch, headrace.keras",
        "TensorArray": "Python's lists, and headrace.stack",
        "Variable": "arrays that a function refers to are part of the graph; Dataset.scan and reduce carry a state on",
        "broadcast_to": "operations broadcast their operands; headrace.tile and headrace.fill repeat values",
        "compat": "the names of TensorFlow 2, as headrace.data",
        "config": "elements are on the CPU; Options().threading and autotune bound what runs at a time",
        "device": "elements are on the CPU; headrace.torch and headrace.jax hand them on",
        "enable_check_numerics": "headrace.debugging.enable_check_numerics",
        "function": "what is given to a dataset is traced anyhow; leave the decorator out",
        "keras": "import keras; its fit takes headrace.keras.DataAdapter(ds), after import headrace.keras",
        "map_fn": "a `for` over the rows of a tensor in the function, or Dataset.map of unbatched rows",
        "load_op_library": "headrace.load_plugin",
        "name_scope": "operations have no names; leave it out",
        "nn": "the functions of headrace.math, or headrace.py_function",
        "nest": "elements are tuples and dicts of tensors: Python's own",
        "print": "ds.map(headrace.py_function(f, Tout)) with a print in f",
        "sparse": "features of any length are tensors already: headrace.io.VarLenFeature",
        "switch_case": "headrace.case",
    },
    "autograph": {
        "set_verbosity": "errors of functions name the line, and nothing is logged",
        "to_code": "functions are rewritten when they are given to a dataset, and errors name their own lines",
        "to_graph": "functions are rewritten when they are given to a dataset",
        "trace": "headrace.py_function with a print in it",
    },
    "autograph.experimental": {
        "Feature": "all of Python's control flow is rewritten, or none: do_not_convert",
        "set_loop_options": "headrace.while_loop takes shape_invariants; other options change nothing",
    },
    "debugging": {
        "enable_traceback_filtering": "tracebacks are whole",
        "experimental": "headrace explain shows a running pipeline",
    },
    "io": {
        "gfile": "Python's glob, os and pathlib",
    },
    "ragged": {
        "boolean_mask": "headrace.boolean_mask of a tensor",
        "cross": "headrace.strings.join, and headrace.strings.to_hash_bucket_fast",
        "cross_hashed": "headrace.strings.join, and headrace.strings.to_hash_bucket_fast",
        "range": "RaggedTensor.from_row_lengths",
        "row_splits_to_segment_ids": "RaggedTensor.row_lengths",
        "segment_ids_to_row_splits": "RaggedTensor.row_splits",
        "stack": "Dataset.ragged_batch",
        "stack_dynamic_partitions": "Dataset.group_by_window",
    },
    "distribute": dict.fromkeys((
        "CentralStorageStrategy", "MirroredStrategy", "MultiWorkerMirroredStrategy", "OneDeviceStrategy",
        "TPUStrategy", "StrategyExtended", "CrossDeviceOps", "HierarchicalCopyAllReduce", "NcclAllReduce",
        "ReduceOp", "ReductionToOneDevice", "ReplicaContext", "RunOptions", "Server", "experimental",
        "experimental_set_strategy", "get_replica_context", "get_strategy", "has_strategy",
        "in_cross_replica_context", "ParameterServerStrategy", "coordinator",
    ), _INPUT_ONLY),
    "distribute.Strategy": {
        "scope": f"leave it out, as no variables are mirrored: {_INPUT_ONLY}",
        "reduce": "torch.distributed.all_reduce or jax.lax.psum between processes; experimental_local_results gives the parts "
                  "of this one",
        "gather": "torch.distributed.all_gather or jax.lax.all_gather between processes; experimental_local_results gives the "
                  "parts of this one",
        **dict.fromkeys(("cluster_resolver", "extended", "update_config_proto"), _INPUT_ONLY),
    },
    "distribute.cluster_resolver": {
        "GCEClusterResolver": "it needs Google Compute Engine's API and credentials; give the addresses to "
                              "SimpleClusterResolver",
        "TPUClusterResolver": "it needs a Cloud TPU and its API; jax.distributed finds the hosts of a TPU, and "
                              "ProcessStrategy reads their numbers",
    },
    "data.experimental": {
        "CheckpointInputPipelineHook": "iterators have save and restore",
        "ServiceOptions": "the service takes arguments: headrace.service.distribute",
        "dense_to_sparse_batch": "Dataset.ragged_batch and padded_batch batch rows of different shapes",
        "enable_debug_mode": "print in a headrace.py_function",
        "from_variant": "datasets are values of Python",
        "get_model_proto": "headrace explain shows a running pipeline",
        "make_saveable_from_iterator": "iterators have save and restore",
        "to_variant": "datasets are values of Python",
    },
    "Options": {
        "experimental_service": "the service takes arguments: headrace.service.distribute",
    },
    "Dataset": {
        "from_sparse_tensor_slices": "from_tensor_slices",
        "make_initializable_iterator": "iter(dataset)",
        "make_one_shot_iterator": "iter(dataset)",
        "output_classes": "element_spec",
        "output_shapes": "element_spec",
        "output_types": "element_spec",
    },
}


#: Modules that are imported when they are first used.
_ENGINES = ("dask", "ray")
#: Modules that consist of functions: the error for an unknown name in one of them mentions ``py_function``.
_FUNCTIONS = ("", "debugging", "image", "io", "lookup", "math", "ragged", "random", "strings")


class MissingNameError(UnimplementedError, AttributeError):
    """This release has no such name; ``hasattr`` is False for it."""


def missing(place: str, name: str) -> NoReturn:
    """Raises the error for a name that a module does not have."""
    known = MISSING.get(place, {})
    where = f"headrace.{place}" if place else "headrace"
    if not place and name in ("jax", "torch"):
        raise AttributeError(f"headrace.{name} must be imported by itself: import headrace.{name}")
    if name not in known:
        beside = "; functions that it lacks can run in Python: headrace.py_function" if place in _FUNCTIONS else ""
        raise AttributeError(f"{where} has no attribute '{name}'{beside}")
    instead = f": {known[name]}" if known[name] else ""
    raise MissingNameError(f"{where}.{name} is not in this release{instead}")


def names_of(place: str) -> Callable[[str], Any]:
    """The ``__getattr__`` of a module."""
    def get(name: str) -> Any:
        if not place and name in _ENGINES:
            return importlib.import_module(f"headrace.{name}")
        missing(place, name)

    return get
