#include "headrace/pipeline/graph/operator_record.hpp"

#include "headrace/pipeline/graph/row_seeds.hpp"

#include <array>
#include <fmt/format.h>

namespace headrace::detail {

namespace {

constexpr size_t most_number = 256;

constexpr auto records_by_number = [] {
  std::array<const operator_record*, most_number> out{};
#define HEADRACE_OPERATOR(name, number) out[number] = &detail::name##_record;
  HEADRACE_OPERATORS(HEADRACE_OPERATOR)
#undef HEADRACE_OPERATOR
  return out;
}();

} // namespace

const operator_record* find_record(dataset_op op) noexcept {
  const auto number = static_cast<size_t>(op);
  return number < most_number ? records_by_number[number] : nullptr;
}

const operator_record* find_record_of_arm(uint16_t arm) noexcept {
  for (const auto* record : records_by_number)
    if (record && record->arm == arm)
      return record;
  return nullptr;
}

std::optional<uint64_t> splits_of_rows(const dataset_node& node) {
  if (node.cardinality < 0)
    return std::nullopt;
  return static_cast<uint64_t>(node.cardinality);
}

std::optional<uint64_t> splits_of_files(const dataset_node& node) {
  const auto* files = constant_of(node.tensors[0]);
  return files ? std::optional{static_cast<uint64_t>(files->total_values())} : std::nullopt;
}

std::string shown_number(known_number x) { return x ? std::to_string(*x) : "..."; }

std::string shown_calls(const dataset_node& node) {
  const auto calls = node.calls.count;
  return calls == 0 ? "" : calls < 0 ? ", calls chosen" : fmt::format(", {} calls", calls);
}

std::string shown_function(const dataset_node& node) {
  const auto called = node.body ? to_string(node.body->named) : std::string{};
  const auto calls = shown_calls(node);
  if (called.empty())
    return calls.empty() ? calls : calls.substr(2);
  return fmt::format("'{}'{}", called, calls);
}

std::string refused_folder(const std::string& folder) {
  return fmt::format("may find in '{}' what another run has written since; with a dataset that is "
                     "saved first, and then loaded, it can",
                     folder);
}

bool draws_in_function(const dataset_node& node) {
  return node.body && wants_row_seeds(*node.body);
}

std::string_view to_string(dataset_op op) noexcept {
  const auto* record = find_record(op);
  return record ? record->name : "unknown operator";
}

} // namespace headrace::detail
