#include "headrace/pipeline/graph/dataset_node.hpp"

namespace headrace {

element_spec function::result() const {
  if (!named.empty())
    return declared;
  std::vector<tensor_spec> specs;
  for (const auto& tensor : tensors) specs.push_back(tensor->spec);
  return {layout, std::move(specs)};
}

std::string_view to_string(dataset_op op) noexcept {
  switch (op) {
  case dataset_op::range: return "range";
  case dataset_op::from_tensors: return "from_tensors";
  case dataset_op::from_tensor_slices: return "from_tensor_slices";
  case dataset_op::text_lines: return "text_lines";
  case dataset_op::tfrecord: return "tfrecord";
  case dataset_op::list_files: return "list_files";
  case dataset_op::fixed_length: return "fixed_length";
  case dataset_op::csv: return "csv";
  case dataset_op::json_lines: return "json_lines";
  case dataset_op::sql: return "sql";
  case dataset_op::tar_samples: return "tar_samples";
  case dataset_op::counter: return "counter";
  case dataset_op::random: return "random";
  case dataset_op::generator: return "generator";
  case dataset_op::elements_of: return "elements_of";
  case dataset_op::load: return "load";
  case dataset_op::global_shuffle: return "global_shuffle";
  case dataset_op::map: return "map";
  case dataset_op::filter: return "filter";
  case dataset_op::flat_map: return "flat_map";
  case dataset_op::interleave: return "interleave";
  case dataset_op::batch: return "batch";
  case dataset_op::shuffle: return "shuffle";
  case dataset_op::repeat: return "repeat";
  case dataset_op::take: return "take";
  case dataset_op::skip: return "skip";
  case dataset_op::prefetch: return "prefetch";
  case dataset_op::enumerate: return "enumerate";
  case dataset_op::zip: return "zip";
  case dataset_op::concatenate: return "concatenate";
  case dataset_op::distribute: return "distribute";
  case dataset_op::take_while: return "take_while";
  case dataset_op::shard: return "shard";
  case dataset_op::unique: return "unique";
  case dataset_op::ignore_errors: return "ignore_errors";
  case dataset_op::assert_cardinality: return "assert_cardinality";
  case dataset_op::scan: return "scan";
  case dataset_op::padded_batch: return "padded_batch";
  case dataset_op::window: return "window";
  case dataset_op::sample_from: return "sample_from_datasets";
  case dataset_op::choose_from: return "choose_from_datasets";
  case dataset_op::options: return "options";
  case dataset_op::sleep: return "sleep";
  case dataset_op::group_by_window: return "group_by_window";
  case dataset_op::ragged_batch: return "ragged_batch";
  case dataset_op::single_element: return "get_single_element";
  case dataset_op::last_element: return "reduce";
  case dataset_op::cache: return "cache";
  case dataset_op::snapshot: return "snapshot";
  }
  return "unknown operator";
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

std::string_view file_compression(const dataset_node& node) {
  return std::visit(
    [](const auto& own) -> std::string_view {
      if constexpr (requires { std::string_view{own.compression}; })
        return own.compression;
      else
        return {};
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

} // namespace headrace
