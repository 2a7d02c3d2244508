#pragma once

#include "headrace/pipeline/functions/structure.hpp"

#include "python.hpp"

namespace headrace::detail::python {

/// Converts `array`, which numpy.asarray returned, to a column with one row: the value of a
/// constant. Numbers are copied; bytes and str become strings.
column column_of(nb::handle array);

/// The expression for a Python value in a function: the expression of a tensor, a literal for a
/// bool, int, float, str or bytes, or a constant for another value. Throws a Python exception, such
/// as TypeError or ValueError, if the value cannot be converted.
expr expr_of(nb::handle value);

/// The expressions for the values in a structure of tuples and dicts, each as by `expr_of`.
expr_structure structure_of(nb::handle value);

/// True for a list, a tuple, and an array or scalar of numpy.
bool takes_dtype_of_neighbour(nb::handle value);

/// An operand of an operator. It is converted from any Python value that `expr_of` accepts.
struct operand {
  expr value{int64_t{0}};
  nb::object given; ///< the Python value, if `takes_dtype_of_neighbour` is true for it

  /// This operand's expression in an operation with `neighbour`. If `given` is set and
  /// `neighbour` is not a literal, numbers in `given` get the dtype of `neighbour` (see
  /// `operand_beside` in _tensors/values.py).
  expr beside(const expr& neighbour) const;
};

} // namespace headrace::detail::python

namespace nanobind::detail {

template <>
struct type_caster<headrace::detail::python::operand> {
  NB_TYPE_CASTER(headrace::detail::python::operand, const_name("object"))

  bool from_python(handle from, uint8_t, cleanup_list*) noexcept {
    try {
      value.value = headrace::detail::python::expr_of(from);
      if (headrace::detail::python::takes_dtype_of_neighbour(from))
        value.given = borrow(from);
      return true;
    } catch (python_error&) {
      return false;
    } catch (std::exception&) {
      return false;
    }
  }
};

} // namespace nanobind::detail
