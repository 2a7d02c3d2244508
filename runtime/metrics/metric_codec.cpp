#include "headrace/runtime/metrics/metric_codec.hpp"

#include "headrace/schemas/text.hpp"

#include <utility>

namespace headrace::detail {

namespace {

void write(schema::Metric::Builder out, uint64_t x) { out.setCounter(x); }
void write(schema::Metric::Builder out, double x) { out.setGauge(x); }
void write(schema::Metric::Builder out, const histogram_counts& x) {
  auto to = out.initHistogram();
  auto bounds = to.initBounds(static_cast<unsigned>(x.bounds.size()));
  for (unsigned i = 0; i < bounds.size(); ++i) bounds.set(i, x.bounds[i]);
  auto counts = to.initCounts(static_cast<unsigned>(x.counts.size()));
  for (unsigned i = 0; i < counts.size(); ++i) counts.set(i, x.counts[i]);
  to.setSum(x.sum);
}

bool read(schema::Metric::Reader in, metric_sample& out) {
  switch (in.which()) {
  case schema::Metric::COUNTER: out.value = uint64_t{in.getCounter()}; return true;
  case schema::Metric::GAUGE: out.value = in.getGauge(); return true;
  case schema::Metric::HISTOGRAM: {
    const auto from = in.getHistogram();
    histogram_counts made{.bounds = {}, .counts = {}, .sum = from.getSum()};
    for (auto x : from.getBounds()) made.bounds.push_back(x);
    for (auto x : from.getCounts()) made.counts.push_back(x);
    const bool fits = made.counts.size() == made.bounds.size() + 1;
    out.value = std::move(made);
    return fits;
  }
  }
  return false;
}

} // namespace

void write_metrics(capnp::List<schema::Metric>::Builder out, const std::vector<metric_sample>& in) {
  for (unsigned i = 0; i < out.size(); ++i) {
    out[i].setName(text_of(in[i].name));
    auto labels = out[i].initLabels(static_cast<unsigned>(in[i].labels.size()));
    unsigned at = 0;
    for (const auto& [name, value] : in[i].labels) {
      labels[at].setName(text_of(name));
      labels[at++].setValue(text_of(value));
    }
    std::visit([&](const auto& x) { write(out[i], x); }, in[i].value);
  }
}

std::vector<metric_sample> read_metrics(capnp::List<schema::Metric>::Reader in) {
  std::vector<metric_sample> out;
  for (auto one : in) {
    metric_sample x{string_of(one.getName()), {}, {}};
    for (auto label : one.getLabels())
      x.labels.emplace(string_of(label.getName()), string_of(label.getValue()));
    if (read(one, x))
      out.push_back(std::move(x));
  }
  return out;
}

} // namespace headrace::detail
