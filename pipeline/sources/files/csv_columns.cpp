#include "headrace/pipeline/sources/files/csv_columns.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace headrace::detail {

csv_columns::csv_columns(const dataset_node& node)
  : fields_(node.as<csv_parameters>().fields), by_name_(false) {
  const auto& format = node.as<csv_parameters>().format;
  const auto& select = format.select;
  by_name_ = format.header && select.empty() && !fields_[0].name.empty();
  for (size_t i = 0; i < fields_.size() && !by_name_; ++i) {
    const auto at = select.empty() ? i : static_cast<size_t>(select[i]);
    constexpr size_t most_columns = size_t{1} << 20;
    targets_.resize(std::max(targets_.size(), std::min(at, most_columns) + 1), -1);
    targets_[std::min(at, most_columns)] = static_cast<int>(i);
    expected_ = at + 1;
  }
  exact_ = select.empty();
}

status csv_columns::read_header(const std::vector<std::string>& names) {
  header_ = names;
  if (!by_name_) {
    if (!right(names.size()))
      return invalid_argument(
        fmt::format("the header has {} columns; {} are needed", names.size(), expected()));
    expected_ = names.size();
    exact_ = true;
    return {};
  }
  targets_.assign(names.size(), -1);
  for (size_t i = 0; i < fields_.size(); ++i) {
    const auto at = std::find(names.begin(), names.end(), fields_[i].name);
    if (at == names.end())
      return not_found(fmt::format("the header has no column '{}'; it has {}", fields_[i].name,
                                   fmt::join(names, ", ")));
    if (std::find(at + 1, names.end(), fields_[i].name) != names.end())
      return invalid_argument(fmt::format("the header has two columns '{}'", fields_[i].name));
    targets_[static_cast<size_t>(at - names.begin())] = static_cast<int>(i);
  }
  expected_ = names.size();
  return {};
}

std::string csv_columns::expected() const {
  return fmt::format("{}{}", exact_ ? "" : "at least ", expected_);
}

std::string csv_columns::name(size_t i) const {
  if (const auto to = component(i); to >= 0 && !fields_[static_cast<size_t>(to)].name.empty())
    return fmt::format("column '{}'", fields_[static_cast<size_t>(to)].name);
  return i < header_.size() ? fmt::format("column '{}'", header_[i]) : fmt::format("column {}", i);
}

} // namespace headrace::detail
