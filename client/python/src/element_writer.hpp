#pragma once

#include "headrace/pipeline/types/element.hpp"

#include "python.hpp"

namespace headrace::detail::python {

/// The Python type of the strings in elements.
enum class strings_as : uint8_t {
  bytes,
  values, ///< bytes that also compare equal to a str: see string_value.hpp
};

/// Makes Python objects of rows: numpy scalars, bytes, and arrays that share the block's memory
/// (and keep it alive), in tuples and dicts.
class element_writer {
public:
  /// Throws UnimplementedError if numpy has no dtype for a component of `spec`.
  explicit element_writer(element_spec spec, strings_as strings = strings_as::bytes);

  void give_strings(strings_as how) { strings_ = how; }

  /// Sets the block whose rows `row` converts: the block that contains the element `any`.
  void hold(element any);
  /// The row `index` of the block that `hold` has set. @pre `hold` was called
  nb::object row(size_t index);

private:
  struct leaf {
    const column* from = nullptr;
    PyArray_Descr* type = nullptr; ///< borrowed from `types_`
    const char* values = nullptr;
    size_t row_bytes = 0;
    std::vector<npy_intp> dims; ///< the extents of each row, if they are equal in all rows
  };
  nb::object write(const structure& layout, size_t& at, size_t row);
  nb::object write_leaf(leaf& x, size_t row);
  nb::object write_strings(const leaf& x, size_t row, const std::vector<npy_intp>& dims) const;
  nb::object of_class(const structure& layout, size_t maker, nb::object plain) const;
  nb::object write_string(std::string_view text) const;
  nb::handle owner();

  element_spec spec_;
  strings_as strings_;
  std::vector<nb::object> types_;
  std::vector<nb::object> names_;  ///< the dict keys, in the order in which `write` uses them
  std::vector<nb::object> makers_; ///< the results of `maker_of`, in the order of their use
  std::vector<leaf> leaves_;
  element held_;
  nb::object owner_; ///< a capsule that keeps the block alive, made when an array first needs it
  size_t name_ = 0, maker_ = 0;
};

/// The numpy dtype for `type`; it is `object` for strings. bfloat16 needs the package ml_dtypes.
nb::object numpy_dtype(dtype type);

} // namespace headrace::detail::python
