#pragma once

#include "headrace/pipeline/types/spec.hpp"

#include "python.hpp"

#include <functional>

/// Elements as Python arranges them: tuples, dicts and ragged tensors; anything else is a leaf.
namespace headrace::detail::python {

/// Arranges leaves in the tuples and dicts of `layout`. A labelled tuple or dict is of the class
/// that its label names. `leaf(i)` makes leaf number `i`.
nb::object arranged(const structure& layout, const std::function<nb::object(size_t)>& leaf);

/// The callable that converts a plain tuple or dict to the class that the structure's label names;
/// a null object if there is no label.
nb::object maker_of(const structure& layout);

/// The Python object for a ragged tensor with these parts: values, then row lengths. If the parts
/// are specs, the result is the spec of the ragged tensor.
nb::object ragged_of(nb::tuple parts);

/// The structure of `value`; appends its leaves in depth-first order. Throws TypeError for a dict
/// whose keys are neither all strings nor all ints.
structure layout_of(nb::handle value, std::vector<nb::object>& leaves);

/// A tensor's `(dtype name, dims)`, with `dims` as in `to_python(const shape&)`.
/// `tensor_spec_from_python` is the inverse.
nb::object to_python(const tensor_spec& spec);
tensor_spec tensor_spec_from_python(nb::handle spec);

/// A shape as a tuple with an int, or None if it is unknown, for each extent; None if the rank is
/// unknown. `shape_from_python` is the inverse.
nb::object to_python(const shape& dims);
shape shape_from_python(nb::handle dims);

/// `spec` as tuples and dicts; each `tensor_spec` in it becomes `leaf(dtype name, dims, nesting)`.
nb::object to_python(const element_spec& spec, const nb::callable& leaf);

} // namespace headrace::detail::python
