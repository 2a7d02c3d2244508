#include "headrace/runtime/metrics/metric_registry.hpp"

#include "headrace/runtime/base/result.hpp"

#include <algorithm>

namespace headrace::detail {

namespace {

bool is_empty(const metric_sample& x) {
  if (const auto* count = std::get_if<uint64_t>(&x.value))
    return *count == 0;
  const auto* histogram = std::get_if<histogram_counts>(&x.value);
  return histogram != nullptr && histogram->total() == 0;
}

} // namespace

template <class Metric, class Info>
Metric& metric_registry::find_or_make(const Info& what, const metric_labels& labels,
                                      std::unique_ptr<Metric> (*make)(const Info&)) {
  std::lock_guard lock{mutex_};
  auto [at, fresh] = entries_.try_emplace({std::string{what.name}, labels});
  if (fresh)
    at->second = {&what, make(what)};
  auto* held = std::get_if<std::unique_ptr<Metric>>(&at->second.held);
  if (held == nullptr)
    throw error{internal_error(
      "the metric " + at->first.first + " is a "
      + std::string{kind_of(sample(at->first.first, labels, at->second.held))} + " elsewhere")};
  return **held;
}

counter& metric_registry::get(const counter_info& what, const metric_labels& labels) {
  return find_or_make<counter, counter_info>(
    what, labels, [](const counter_info&) { return std::make_unique<counter>(); });
}

gauge& metric_registry::get(const gauge_info& what, const metric_labels& labels) {
  return find_or_make<gauge, gauge_info>(
    what, labels, [](const gauge_info&) { return std::make_unique<gauge>(); });
}

histogram& metric_registry::get(const histogram_info& what, const metric_labels& labels) {
  return find_or_make<histogram, histogram_info>(
    what, labels, [](const histogram_info& x) { return std::make_unique<histogram>(x.bounds); });
}

metric_sample metric_registry::sample(std::string_view name, const metric_labels& labels,
                                      const metric& held) {
  metric_sample out{std::string{name}, labels, {}};
  std::visit([&](const auto& x) { out.value = x->value(); }, held);
  return out;
}

std::vector<metric_sample> metric_registry::read() const {
  std::lock_guard lock{mutex_};
  std::vector<metric_sample> out;
  for (const auto& [key, x] : entries_) out.push_back(sample(key.first, key.second, x.held));
  return out;
}

std::vector<metric_sample> metric_registry::read_counted() const {
  auto out = read();
  std::erase_if(out, is_empty);
  return out;
}

uint64_t metric_registry::count(const counter_info& of, const metric_labels& labels) const {
  return count_in(read(), of, labels);
}

std::vector<std::pair<metric_info, std::string_view>> metric_registry::families() const {
  std::lock_guard lock{mutex_};
  std::vector<std::pair<metric_info, std::string_view>> out;
  for (const auto& [key, x] : entries_)
    if (out.empty() || out.back().first.name != key.first)
      out.emplace_back(*x.what, kind_of(sample(key.first, key.second, x.held)));
  return out;
}

} // namespace headrace::detail
