#pragma once

#include "headrace/pipeline/sources/row_table.hpp"

#include <span>
#include <string_view>

namespace headrace {

/// What a function over single elements gives for one element: every component is set once.
class element_output {
public:
  element_output(const element_spec& spec, detail::row_table& to)
    : spec_(&spec), to_(&to), set_(spec.components.size()) {}

  /// A tensor in row-major order. `invalid_argument` if there is no such component, if it is of
  /// another dtype or does not fit the shape that the function declared, or is set already.
  template <plain_value T>
  status set(size_t component, const shape& dims, std::span<const T> values) {
    HEADRACE_TRY(begin(component, dtype_of<T>, dims, values.size()));
    for (auto x : values) (*to_)[component].append(x);
    return {};
  }
  /// A scalar.
  template <plain_value T>
  status set(size_t component, T value) {
    return set<T>(component, {}, std::span<const T>{&value, 1});
  }
  status set(size_t component, std::string_view value) {
    return set(component, {}, std::span<const std::string_view>{&value, 1});
  }
  status set(size_t component, const shape& dims, std::span<const std::string_view> values);

  /// Whether every component is set.
  status complete() const;

private:
  status begin(size_t component, dtype type, const shape& dims, size_t values);

  const element_spec* spec_;
  detail::row_table* to_;
  std::vector<bool> set_;
};

} // namespace headrace
