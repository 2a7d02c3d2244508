#pragma once

#include "headrace/pipeline/functions/structure.hpp"

#include "python.hpp"

namespace headrace::detail::python {

/// A constant of the result of numpy.asarray: numbers are copied; arrays of bytes and str become
/// strings.
column column_of(nb::handle array);

/// The expression for a Python value in a function: a tensor itself, a literal (bool, int, float,
/// str, bytes), or a constant. Throws TypeError or ValueError, naming the value's type.
expr expr_of(nb::handle value);

/// Tuples and dicts of such values.
expr_structure structure_of(nb::handle value);

/// True for a list, a tuple, and an array or scalar of numpy.
bool takes_dtype_of_neighbour(nb::handle value);

/// An operand of an operator: convertible from all that `expr_of` takes.
struct operand {
  expr value{int64_t{0}};
  nb::object given; ///< the Python value, if `takes_dtype_of_neighbour` is true for it

  /// The operand. If `given` is set and `neighbour` is not a literal, numbers get its dtype.
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
