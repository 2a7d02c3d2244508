#include "headrace/pipeline/custom/element_output.hpp"

#include <fmt/format.h>

namespace headrace {

status element_output::set(size_t component, const shape& dims,
                           std::span<const std::string_view> values) {
  HEADRACE_TRY(begin(component, dtype::string, dims, values.size()));
  for (auto x : values) (*to_)[component].append(x);
  return {};
}

status element_output::begin(size_t component, dtype type, const shape& dims, size_t values) {
  if (component >= set_.size())
    return invalid_argument(fmt::format("it set component {}; it declared {}, {}", component,
                                        set_.size(), to_string(*spec_)));
  const auto& spec = spec_->components[component];
  const tensor_spec given{type, dims};
  const auto size = dims.is_bounded() ? dims.elements() : std::nullopt;
  if (!size || !spec.accepts(given))
    return invalid_argument(fmt::format("it gave {} as component {}; it declared {}",
                                        to_string(given), component, to_string(spec)));
  if (static_cast<uint64_t>(*size) != values)
    return invalid_argument(
      fmt::format("it gave {} values for {} as component {}", values, to_string(given), component));
  if (set_[component])
    return invalid_argument(fmt::format("it set component {} twice", component));
  set_[component] = true;
  (*to_)[component].set_shape(dims);
  return {};
}

status element_output::complete() const {
  for (size_t i = 0; i < set_.size(); ++i)
    if (!set_[i])
      return invalid_argument(
        fmt::format("it did not set component {} of {}", i, to_string(*spec_)));
  return {};
}

} // namespace headrace
