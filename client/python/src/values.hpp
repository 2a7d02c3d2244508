#pragma once

#include "headrace/pipeline/functions/structure.hpp"

#include "python.hpp"

namespace headrace::python {

/// A constant of the result of numpy.asarray: numbers are copied; arrays of bytes and str become
/// strings.
column column_of(nb::handle array);

/// The expression for a Python value in a function: a tensor itself, a literal (bool, int, float,
/// str, bytes), or a constant. Throws TypeError or ValueError, naming the value's type.
expr expr_of(nb::handle value);

/// Tuples and dicts of such values.
expr_structure structure_of(nb::handle value);

/// An operand of an operator: convertible from all that `expr_of` takes.
struct operand {
  expr value{int64_t{0}};
  nb::object list; ///< what it was made of, if that is a list or a tuple

  /// The value. Python's numbers in a list take the dtype of the tensor beside it.
  expr beside(const expr& neighbour) const;
};

} // namespace headrace::python

namespace nanobind::detail {

template <>
struct type_caster<headrace::python::operand> {
  NB_TYPE_CASTER(headrace::python::operand, const_name("object"))

  bool from_python(handle from, uint8_t, cleanup_list*) noexcept {
    try {
      value.value = headrace::python::expr_of(from);
      if (PyList_Check(from.ptr()) || PyTuple_Check(from.ptr()))
        value.list = borrow(from);
      return true;
    } catch (python_error&) {
      return false;
    } catch (std::exception&) {
      return false;
    }
  }
};

} // namespace nanobind::detail
