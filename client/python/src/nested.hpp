#pragma once

#include "headrace/pipeline/types/spec.hpp"

#include "python.hpp"

#include <functional>

/// Elements as Python arranges them: tuples and dicts, with anything else as a leaf.
namespace headrace::python {

/// Tuples and dicts as `layout` says, with `leaf(i)` in place of leaf number `i`.
nb::object arranged(const structure& layout, const std::function<nb::object(size_t)>& leaf);

/// A ragged tensor of Python: values, then row lengths; of specs, its spec.
nb::object ragged_of(nb::tuple parts);

/// The arrangement of `value`; its leaves are appended in depth-first order. Throws TypeError for a
/// dict whose keys are not strings.
structure layout_of(nb::handle value, std::vector<nb::object>& leaves);

/// `(dtype name, dims)` of a tensor, where dims are a tuple of int or None, or None without a rank.
nb::object to_python(const tensor_spec& spec);
tensor_spec tensor_spec_from_python(nb::handle spec);

/// A tuple of int or None, or None without a rank; and back.
nb::object to_python(const shape& dims);
shape shape_from_python(nb::handle dims);

/// An element's spec with leaves made by `leaf(dtype name, dims, nesting)`.
nb::object to_python(const element_spec& spec, const nb::callable& leaf);

} // namespace headrace::python
