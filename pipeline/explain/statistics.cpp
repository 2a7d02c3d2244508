#include "headrace/pipeline/explain/statistics.hpp"

#include "headrace/pipeline/graph/operator_record.hpp"
#include "headrace/pipeline/iterator/op_counters.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <unordered_map>

namespace headrace {
using namespace detail;

namespace {

/// The bytes of a row's values in one column, without the column's lists of borders and shapes.
size_t bytes_of(const column& x, size_t row) {
  if (x.is_nested()) {
    const auto& rows = x.nested_row(row);
    size_t out = 0;
    for (size_t i = 0; i < rows.rows(); ++i) out += bytes_of(rows, i);
    return out;
  }
  const auto first = static_cast<size_t>(x.first_value(row));
  const auto end = static_cast<size_t>(x.first_value(row + 1));
  if (!x.is_string())
    return (end - first) * size_of(x.type());
  size_t out = 0;
  for (auto i = first; i < end; ++i) out += x.string(i).size();
  return out;
}

size_t bytes_of(const block& rows, size_t row) {
  size_t out = 0;
  for (const auto& x : rows.columns) out += bytes_of(x, row);
  return out;
}

/// The counters of the operators that are measured.
class measured {
public:
  measured(std::shared_ptr<statistics> to, dataset_ptr graph, statistics_options options)
    : to_(std::move(to)), options_(std::move(options)), graph_(std::move(graph)) {
    visit(*graph_);
  }

  op_counters* of(const dataset_node& node) {
    const auto at = counted_.find(&node);
    return at == counted_.end() ? nullptr : at->second.get();
  }

private:
  void visit(const dataset_node& node) {
    if (counted_.contains(&node))
      return;
    const auto number = counted_.size();
    auto& counts = counted_.emplace(&node, nullptr).first->second;
    if (const auto* own = node.find<stats_parameters>()) {
      counts = std::make_unique<op_counters>();
      counts->given = [this, tag = tagged(own->tag), bytes = own->bytes](const block& rows,
                                                                         uint64_t ns) {
        if (bytes)
          add_bytes(tag, rows);
        else
          add_latency(tag, rows, ns);
      };
    } else if (options_.all_operators && node.op != dataset_op::options) {
      counts = std::make_unique<op_counters>();
      counts->given =
        [this, tag = tagged(fmt::format("record_latency_{}/_{}", to_string(node.op), number))](
          const block& rows, uint64_t ns) { add_latency(tag, rows, ns); };
    }
    if (node.op == dataset_op::distribute)
      return; // the inputs run in other processes
    for (const auto& input : node.inputs) visit(*input);
    if (node.body && node.body->dataset)
      visit(*node.body->dataset);
  }

  std::string tagged(const std::string& name) const {
    return options_.prefix.empty() ? name : options_.prefix + "::" + name;
  }
  void add_latency(const std::string& tag, const block& rows, uint64_t ns) {
    to_->add(tag, static_cast<double>(ns) / 1000 / static_cast<double>(rows.rows), rows.rows);
  }
  void add_bytes(const std::string& tag, const block& rows) {
    for (size_t i = 0, equal = 0; i < rows.rows; i += equal) {
      const auto size = bytes_of(rows, i);
      for (equal = 1; i + equal < rows.rows && bytes_of(rows, i + equal) == size;) ++equal;
      const auto failed = std::ranges::count_if(
        rows.errors, [&](const auto& x) { return x.row >= i && x.row < i + equal; });
      if (const auto times = equal - static_cast<size_t>(failed); times != 0)
        to_->add(tag, static_cast<double>(size), times);
    }
  }

  std::shared_ptr<statistics> to_;
  statistics_options options_;
  dataset_ptr graph_; ///< the graph whose nodes are the keys
  std::unordered_map<const dataset_node*, std::unique_ptr<op_counters>> counted_;
};

} // namespace

void measured_values::add(double value, uint64_t times) {
  value = std::max(value, 0.0);
  least = count == 0 ? value : std::min(least, value);
  most = count == 0 ? value : std::max(most, value);
  count += times;
  sum += value * static_cast<double>(times);
  sum_of_squares += value * value * static_cast<double>(times);
  const auto limit = value == 0 ? 0.0 : std::exp2(std::ceil(4 * std::log2(value)) / 4);
  buckets[limit] += times;
}

void statistics::add(std::string_view tag, double value, uint64_t times) {
  std::lock_guard lock{mutex_};
  auto at = all_.find(tag);
  if (at == all_.end())
    at = all_.emplace(tag, measured_values{}).first;
  at->second.add(value, times);
}

std::map<std::string, measured_values> statistics::summary() const {
  std::lock_guard lock{mutex_};
  return {all_.begin(), all_.end()};
}

counters_of measured_by(std::shared_ptr<statistics> to, const dataset_ptr& graph,
                        statistics_options options) {
  return [all = std::make_shared<measured>(std::move(to), graph, std::move(options))](
           const dataset_node& node) { return all->of(node); };
}

} // namespace headrace
