#include "headrace/pipeline/explain/explanation.hpp"

#include "headrace/pipeline/engine/engine.hpp"
#include "headrace/pipeline/explain/operator_table.hpp"
#include "headrace/pipeline/graph/graph_options.hpp"
#include "headrace/pipeline/makers/dataset_makers.hpp"
#include "headrace/runtime/base/clock.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace headrace {
using namespace detail;

namespace {

std::vector<operator_report> report(const operator_table& table, detail::engine& ran) {
  std::vector<operator_report> out;
  const auto totals = table.read();
  for (size_t i = 0; i < table.size(); ++i) {
    const auto& one = table.at(i);
    const auto& c = totals[i];
    auto& to = out.emplace_back();
    to.name = one.name;
    to.depth = one.depth;
    to.in_function = one.caller != SIZE_MAX;
    to.rows = c.rows;
    to.blocks = c.blocks;
    to.bytes = c.bytes;
    to.kernel_calls = c.kernel_calls;
    const auto own = c.time_ns > c.below_ns ? c.time_ns - c.below_ns : 0;
    const bool threads = works_on_threads(*one.node, c.samples);
    to.busy =
      std::chrono::nanoseconds{static_cast<int64_t>(threads ? c.work_ns + c.storage_ns : own)};
    if (c.samples != 0)
      to.queue = static_cast<double>(c.queued) / static_cast<double>(c.samples);
    to.ignored = c.ignored;
    to.calls = ran.calls_of(*one.node)->mean();
    // Each concurrent call of a function runs the function's dataset, so the calls of an operator
    // in that dataset are multiplied by the calls of the function.
    if (to.in_function)
      to.calls *= out[one.caller].calls;
  }
  return out;
}

std::string with_unit(double x, double step, const std::vector<const char*>& units) {
  size_t unit = 0;
  for (; x >= step && unit + 1 < units.size(); ++unit) x /= step;
  return fmt::format("{:.{}f} {}", x, x >= 100 || unit == 0 ? 0 : 1, units[unit]);
}
std::string bytes_text(double x) { return with_unit(x, 1024, {"B", "KiB", "MiB", "GiB", "TiB"}); }
std::string time_text(std::chrono::nanoseconds x) {
  return with_unit(static_cast<double>(x.count()), 1000, {"ns", "us", "ms", "s"});
}

} // namespace

result<explanation> explain(const dataset_ptr& graph, iterator_context context,
                            const explain_options& options) {
  if (!graph)
    return invalid_argument("explain: there is no graph");
  operator_table nodes{graph};
  context.counters = [&](const dataset_node& node) { return nodes.counters(node); };
  // A stop is requested at the end, so that threads that read ahead end before their counters are
  // destroyed.
  std::stop_source stop;
  std::stop_callback outer{context.stop, [&] { stop.request_stop(); }};
  context.stop = stop.get_token();
  explanation out;
  {
    HEADRACE_TRY(check_gives_tensors(*graph));
    const auto ran = std::make_shared<detail::engine>(context, options_of(*graph));
    HEADRACE_ASSIGN(const auto from, ran->make(graph, {}));
    const auto begin = clock::system().now();
    block_ramp ramp;
    while (out.took < options.most_time && out.rows < options.most_rows) {
      auto wanted = ramp.next();
      wanted.rows =
        static_cast<size_t>(std::min<uint64_t>(wanted.rows, options.most_rows - out.rows));
      const auto before = clock::system().now();
      const auto rows = from->next(wanted);
      const auto now = clock::system().now();
      out.took = now - begin;
      if (!rows) {
        out.ended = true;
        break;
      }
      ramp.record(rows->rows, rows->bytes(), now - before);
      out.rows += rows->rows;
      out.failed_rows += rows->errors.size();
      if (out.failure.ok() && !rows->errors.empty())
        out.failure = rows->errors[0].why;
    }
    out.operators = report(nodes, *ran);
    stop.request_stop();
  }
  const auto busiest = std::ranges::max_element(
    out.operators, {}, [](const auto& x) { return in_seconds(x.busy) / x.calls; });
  out.bottleneck = busiest != out.operators.end() && busiest->busy.count() > 0
                     ? static_cast<size_t>(busiest - out.operators.begin())
                     : out.operators.size();
  return out;
}

std::string to_text(const explanation& x) {
  size_t width = 8;
  std::vector<std::string> names;
  for (const auto& one : x.operators) {
    names.push_back(std::string(2 * one.depth, ' ') + one.name);
    width = std::max(width, names.back().size());
  }
  std::string out;
  if (x.bottleneck < x.operators.size()) {
    const auto& worst = x.operators[x.bottleneck];
    out = fmt::format("bottleneck: {}, busy {:.0f}% of the time{}\n\n", worst.name,
                      std::min(100., 100 * in_seconds(worst.busy) / worst.calls
                                       / std::max(in_seconds(x.took), 1e-9)),
                      worst.calls > 1.05 ? fmt::format(" with {:.3g} calls at a time", worst.calls)
                                         : "");
  }
  out += fmt::format("  {:<{}}  {:>12}  {:>9}  {:>10}  {:>9}  {:>6}  {:>9}  {:>6}\n", "operator",
                     width, "rows", "blocks", "bytes", "time", "share", "a row", "queue");
  for (size_t i = 0; i < names.size(); ++i) {
    const auto& one = x.operators[i];
    const auto share = x.took.count() == 0 ? 0 : 100 * in_seconds(one.busy) / in_seconds(x.took);
    const auto each =
      one.rows == 0 ? std::chrono::nanoseconds{0} : one.busy / static_cast<int64_t>(one.rows);
    out += fmt::format("{} {:<{}}  {:>12}  {:>9}  {:>10}  {:>9}  {:>5.0f}%  {:>9}  {:>6}\n",
                       i == x.bottleneck ? '>' : ' ', names[i], width, one.rows, one.blocks,
                       bytes_text(static_cast<double>(one.bytes)), time_text(one.busy), share,
                       time_text(each), one.queue < 0 ? "-" : fmt::format("{:.1f}", one.queue));
  }
  out += fmt::format("\n{} elements in {} ({}), {}\n", x.rows, time_text(x.took),
                     x.ended ? "all of them" : "stopped there",
                     with_unit(static_cast<double>(x.rows) / std::max(in_seconds(x.took), 1e-9),
                               1000, {"elements/s", "k elements/s", "M elements/s"}));
  if (x.failed_rows != 0)
    out += fmt::format("{} of them failed, first: {}\n", x.failed_rows, to_string(x.failure));
  for (const auto& one : x.operators)
    if (one.ignored != 0)
      out += fmt::format("{} left out {} elements that failed\n", one.name, one.ignored);
  return out;
}

} // namespace headrace
