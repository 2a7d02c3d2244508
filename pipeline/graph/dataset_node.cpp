#include "headrace/pipeline/graph/dataset_node.hpp"

#include <concepts>

namespace headrace::detail {

element_spec function::result() const {
  if (!named.empty())
    return declared;
  std::vector<tensor_spec> specs;
  for (const auto& tensor : tensors) specs.push_back(tensor->spec);
  return {layout, std::move(specs)};
}

optional_seed given_seed(const dataset_node& node) {
  return std::visit(
    [](const auto& own) -> optional_seed {
      if constexpr (requires { own.seed; })
        return own.seed;
      else
        return {};
    },
    node.parameters);
}

file_compression compression_of_files(const dataset_node& node) {
  return std::visit(
    [](const auto& own) -> file_compression {
      // Some other parameters have a member `compression` of another type.
      if constexpr (requires {
                      { own.compression } -> std::same_as<const file_compression&>;
                    })
        return own.compression;
      else
        return file_compression::none;
    },
    node.parameters);
}

std::span<const field_format> fields_of(const dataset_node& node) {
  return std::visit(
    [](const auto& own) -> std::span<const field_format> {
      if constexpr (requires { own.fields; })
        return own.fields;
      else
        return {};
    },
    node.parameters);
}

} // namespace headrace::detail
