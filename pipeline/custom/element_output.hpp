#pragma once

#include "headrace/pipeline/iterator/row_table.hpp"

#include <span>
#include <string_view>

namespace headrace {

/// The result of a function over single elements, for one element. Every component must be set
/// once.
class element_output {
public:
  element_output(const element_spec& spec, detail::row_table& to)
    : spec_(&spec), to_(&to), set_(spec.components.size()) {}

  /// Sets a component to a tensor with these values, in row-major order. `invalid_argument`: there
  /// is no such component, it is set already, the dtype or the shape does not fit the spec that the
  /// function declared, or the number of values does not fit the shape.
  template <plain_value T>
  status set(size_t component, const shape& dims, std::span<const T> values) {
    HEADRACE_TRY(begin(component, dtype_of<T>, dims, values.size()));
    for (auto x : values) (*to_)[component].append(x);
    return {};
  }
  /// Sets a scalar.
  template <plain_value T>
  status set(size_t component, T value) {
    return set<T>(component, {}, std::span<const T>{&value, 1});
  }
  status set(size_t component, std::string_view value) {
    return set(component, {}, std::span<const std::string_view>{&value, 1});
  }
  status set(size_t component, const shape& dims, std::span<const std::string_view> values);

  /// Ok if every component is set.
  status complete() const;

private:
  status begin(size_t component, dtype type, const shape& dims, size_t values);

  const element_spec* spec_;
  detail::row_table* to_;
  std::vector<bool> set_;
};

} // namespace headrace
