#include "headrace/client/monitor/open_metrics.hpp"

#include "headrace/runtime/base/utf8.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>

namespace headrace::detail::monitor {

namespace {

/// Prometheus refuses a whole page if one label is not UTF-8, and reads a zero byte as the end of
/// the text, so such bytes are replaced.
std::string escaped(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size();) {
    const auto length = utf8_length(text, i);
    const auto c = text[i];
    if (length == 0 || c == '\0')
      out += "\uFFFD";
    else if (c == '\n')
      out += "\\n";
    else if (c == '\\' || c == '"')
      (out += '\\') += c;
    else
      out += text.substr(i, length);
    i += std::max<size_t>(length, 1);
  }
  return out;
}

std::string number(double x) {
  if (std::isnan(x))
    return "NaN";
  if (std::isinf(x))
    return x > 0 ? "+Inf" : "-Inf";
  return fmt::format("{}", x);
}

std::string labels_text(const metric_labels& labels, const std::string& more = {}) {
  std::string out;
  for (const auto& [name, value] : labels)
    out += fmt::format("{}{}=\"{}\"", out.empty() ? "" : ",", name, escaped(value));
  if (!more.empty())
    out += (out.empty() ? "" : ",") + more;
  return out.empty() ? out : "{" + out + "}";
}

void write(std::string& out, const std::string& name, const metric_sample& x) {
  if (const auto* count = std::get_if<uint64_t>(&x.value)) {
    out += fmt::format("{}_total{} {}\n", name, labels_text(x.labels), *count);
  } else if (const auto* value = std::get_if<double>(&x.value)) {
    out += fmt::format("{}{} {}\n", name, labels_text(x.labels), number(*value));
  } else {
    const auto& h = std::get<histogram_counts>(x.value);
    uint64_t sum = 0;
    for (size_t i = 0; i < h.counts.size(); ++i) {
      sum += h.counts[i];
      const auto le = i < h.bounds.size() ? number(h.bounds[i]) : "+Inf";
      out += fmt::format("{}_bucket{} {}\n", name,
                         labels_text(x.labels, fmt::format("le=\"{}\"", le)), sum);
    }
    out += fmt::format("{}_count{} {}\n", name, labels_text(x.labels), sum);
    out += fmt::format("{}_sum{} {}\n", name, labels_text(x.labels), number(h.sum));
  }
}

/// The unit of a family of metrics, which is the last word of the name; empty: the name has no
/// unit.
std::string unit_of(const std::string& name) {
  for (const auto* unit : {"seconds", "bytes", "messages", "ratio"})
    if (name.ends_with(std::string{"_"} + unit))
      return unit;
  return {};
}

} // namespace

void add_samples(metric_families& to, const std::vector<metric_sample>& samples,
                 const metric_labels& labels) {
  for (const auto& x : samples) {
    auto [at, fresh] = to.try_emplace(x.name);
    if (fresh) {
      at->second.kind = kind_of(x);
      at->second.unit = unit_of(x.name);
    }
    if (at->second.kind != kind_of(x))
      continue; // the samples come from processes of versions that define different kinds
    auto& added = at->second.samples.emplace_back(x);
    added.labels.insert(labels.begin(), labels.end());
  }
}

void add_registry(metric_families& to, const metric_registry& from) {
  for (const auto& [what, kind] : from.families())
    to.try_emplace(std::string{what.name}, metric_family{.kind = std::string{kind},
                                                         .unit = std::string{what.unit},
                                                         .help = std::string{what.help},
                                                         .samples = {}});
  add_samples(to, from.read());
}

std::string open_metrics_text(const metric_families& all) {
  std::string out;
  for (const auto& [name, family] : all) {
    out += fmt::format("# TYPE {} {}\n", name, family.kind);
    if (!family.unit.empty())
      out += fmt::format("# UNIT {} {}\n", name, family.unit);
    if (!family.help.empty())
      out += fmt::format("# HELP {} {}\n", name, escaped(family.help));
    for (const auto& x : family.samples) write(out, name, x);
  }
  return out + "# EOF\n";
}

} // namespace headrace::detail::monitor
