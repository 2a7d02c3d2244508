#include "headrace/pipeline/engine/engine.hpp"
#include "headrace/pipeline/graph/graph_options.hpp"

#include "headrace/pipeline/graph/operator_record.hpp"
#include "headrace/pipeline/graph/row_order.hpp"
#include "headrace/pipeline/iterator/counter_random.hpp"
#include "headrace/pipeline/makers/dataset_makers.hpp"
#include "headrace/runtime/base/clock.hpp"
#include "headrace/runtime/base/thread_waits.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace headrace::detail {

namespace {

// Blocks of more rows are not requested, so that sums of numbers of rows cannot overflow.
constexpr size_t most_rows = size_t{1} << 30;

status from_exception(const std::exception& e) {
  if (const auto* known = dynamic_cast<const error*>(&e))
    return known->why();
  if (dynamic_cast<const std::bad_alloc*>(&e))
    return resource_exhausted("out of memory");
  return {status_code::unknown, e.what()};
}

block all_failed(const std::vector<tensor_spec>& specs, const block& in, const status& why) {
  block one = block::failed_row(specs, why);
  std::vector<column> columns;
  block out;
  out.rows = in.rows;
  out.origins = in.origins;
  for (const auto& c : one.columns) {
    if (c.is_nested()) {
      out.columns.push_back(
        column::nested(c.type(), std::vector<column>(in.rows, c.nested_row(0))));
      continue;
    }
    // The values of error rows are not read, so none are stored.
    const auto dims = shape{0};
    out.columns.push_back(c.is_string() ? column::strings(dims, in.rows, c.border_buffer(), {})
                                        : column::dense(c.type(), dims, in.rows, {}));
  }
  for (size_t i = 0; i < in.rows; ++i) {
    const auto* before = in.error_at(i);
    out.errors.push_back({static_cast<uint32_t>(i), before ? *before : why});
  }
  return out;
}

} // namespace

block compiled_function::run(const block& in, const environment* outer,
                             uint64_t& kernel_calls) const {
  auto out = run_unnamed(in, outer, kernel_calls);
  // The errors of the input already name their operator.
  for (auto& e : out.errors)
    if (in.errors.empty() || !in.error_at(e.row))
      e.why = e.why.with_context(to_string(of_));
  return out;
}

block compiled_function::run_unnamed(const block& in, const environment* outer,
                                     uint64_t& kernel_calls) const try {
  if (named_)
    return run_named(in);
  kernel_counter counter{.stop = stop_};
  auto out = program_.run(in, outer, counter);
  kernel_calls += counter.calls;
  return out;
} catch (const std::exception& e) {
  return all_failed(specs_, in, from_exception(e));
}

block compiled_function::run_named(const block& in) const {
  auto out = named_(in);
  if (!out)
    return all_failed(specs_, in, out.status());
  if (out->rows != in.rows || out->columns.size() != specs_.size())
    return all_failed(
      specs_, in,
      internal_error(fmt::format("a named function gave {} rows of {} components for {} rows; it "
                                 "must give {} of {}",
                                 out->rows, out->columns.size(), in.rows, in.rows, specs_.size())));
  for (size_t i = 0; i < specs_.size(); ++i) {
    const auto& c = out->columns[i];
    // The shapes of error rows need not match.
    const bool fits =
      c.type() == specs_[i].type && c.rows() == in.rows
      && (out->rows == out->errors.size()
          || (c.is_dense() ? specs_[i].dims.accepts(c.row_shape())
                           : !specs_[i].dims.has_rank() || c.rank() == specs_[i].dims.rank()));
    if (!fits)
      return all_failed(
        specs_, in,
        internal_error(fmt::format(
          "a named function gave {} rows of {}{} as component {}; it declared {}", c.rows(),
          to_string(c.type()), c.is_dense() ? to_string(c.row_shape()) : std::string{}, i,
          to_string(specs_[i]))));
  }
  out->origins = in.origins;
  return *std::move(out);
}

result<std::unique_ptr<iterator>> engine::make(const dataset_ptr& node, const place& at) {
  return record_of(*node).open(*this, node, at);
}

result<std::unique_ptr<iterator>> engine::make_input(const dataset_ptr& node, const place& at,
                                                     size_t index) {
  auto inner = at;
  inner.path = mix(at.path, index);
  inner.whole = at.whole || is_whole(*node, index);
  if (!at.in_function() && !inner.whole)
    for (size_t i = 0; i < index; ++i)
      if (!is_whole(*node, i))
        inner.first_source += static_cast<uint32_t>(sources_below(*node->inputs[i]));
  return make(node->inputs[index], inner);
}

bool engine::reorders(const dataset_node& part) {
  std::lock_guard lock{mutex_};
  const auto [known, first] = reorders_.try_emplace(&part);
  if (first)
    known->second = detail::reorders(part, options_);
  return known->second;
}

result<std::shared_ptr<const compiled_function>> engine::compiled(const dataset_node& node) {
  std::lock_guard lock{mutex_};
  auto& known = functions_[&node];
  if (known)
    return known;
  const auto& f = *node.body;
  if (f.named.empty()) {
    known = std::make_shared<const compiled_function>(node.op, f, context_.stop);
    return known;
  }
  HEADRACE_ASSIGN(auto found, find_function(f.named));
  known =
    std::make_shared<const compiled_function>(node.op, std::move(found), f.declared.components);
  return known;
}

result<named_function> engine::find_function(const function_reference& what) const try {
  auto found = context_.find_function ? context_.find_function(what) : named_function{};
  if (!found)
    return not_found(
      fmt::format("no function is registered as '{}' in this process", to_string(what)));
  return found;
} catch (const error& e) {
  return e.why();
}

program engine::arguments_of(const dataset_node& node, const function_scope* scope) {
  std::lock_guard lock{mutex_};
  const std::pair key{&node, scope};
  auto known = arguments_.find(key);
  if (known == arguments_.end())
    known = arguments_.emplace(key, compile(node.tensors, scope)).first;
  return known->second;
}

result<std::vector<column>> engine::arguments(const dataset_ptr& node, const place& at) {
  if (at.row)
    if (auto known = at.row->arguments.find(node.get()); known != at.row->arguments.end())
      return known->second;
  std::vector<column> out;
  for (const auto& x : node->tensors)
    if (const auto* value = constant_of(x))
      out.push_back(*value);
  if (out.size() == node->tensors.size())
    return out;
  return compile(node->tensors).run_once(at.names());
}

result<int64_t> engine::number_of(const dataset_ptr& node, const place& at, known_number known) {
  if (known)
    return *known;
  HEADRACE_ASSIGN(const auto values, arguments(node, at));
  return values.back().values<int64_t>()[0];
}

uint64_t engine::start_pass(uint32_t source) {
  std::lock_guard lock{mutex_};
  return passes_[source]++;
}

void engine::set_pass(uint32_t source, uint64_t pass) {
  std::lock_guard lock{mutex_};
  passes_[source] = pass + 1;
}

size_t engine::sources_below(const dataset_node& node) {
  std::lock_guard lock{mutex_};
  auto known = sources_.find(&node);
  if (known == sources_.end())
    known = sources_.emplace(&node, count_sources(node)).first;
  return known->second;
}

uint64_t engine::random_key(const dataset_node& node, const place& at) const {
  const auto seed = given_seed(node);
  return seed ? mix(*seed, 0x5eed) : mix(this->seed(), at.path);
}

operator_iterator::operator_iterator(engine& shared, const dataset_node& node)
  : engine_(shared),
    node_(node),
    counters_(shared.context().counters ? shared.context().counters(node) : nullptr) {}

std::optional<block> operator_iterator::next(const limits& wanted) {
  if (ended_)
    return std::nullopt;
  if (engine_.stopped())
    return last_failure(cancelled("the iteration was stopped"));
  std::optional<block> out;
  try {
    const limits most{std::clamp<size_t>(wanted.rows, 1, most_rows), wanted.bytes};
    out = counters_ ? counted(most) : produce(most);
  } catch (const std::exception& e) {
    return last_failure(from_exception(e).with_context(to_string(node_.op)));
  }
  if (!out)
    ended_ = true;
  return out;
}

std::optional<block> operator_iterator::counted(const limits& wanted) {
  auto& counts = *counters_;
  const auto here = std::this_thread::get_id();
  counts.thread = here;
  const own_waits waits{&counts.waits};
  const auto begin = clock::system().now();
  counts.since_ns = begin.time_since_epoch().count();
  auto out = produce(wanted);
  counts.since_ns = 0;
  const auto took = static_cast<uint64_t>((clock::system().now() - begin).count());
  counts.time_ns += took;
  if (const auto& waited = waits.so_far(); waited.lease_ns != 0 || waited.storage_ns != 0) {
    counts.lease_ns += waited.lease_ns;
    counts.storage_ns += waited.storage_ns;
  }
  if (counts.user && counts.user->thread.load() == here)
    counts.user->below_ns += took;
  if (out) {
    counts.rows += out->rows;
    counts.bytes += out->bytes();
    ++counts.blocks;
    if (counts.given)
      counts.given(*out, took);
  }
  counts.kernel_calls += std::exchange(kernel_calls_, 0);
  return out;
}

position_ptr operator_iterator::save() const {
  auto out = std::make_shared<position>();
  out->op = node_.op;
  out->version = record_of(node_).position_version;
  out->ended = ended_;
  if (!ended_)
    save_to(*out);
  return out;
}

status operator_iterator::restore(const position& from) try {
  if (from.op != node_.op)
    return data_loss(fmt::format("the position is that of a {} where the dataset has a {}",
                                 to_string(from.op), to_string(node_.op)));
  if (const auto known = record_of(node_).position_version; from.version != known)
    return failed_precondition(
      fmt::format("the position of a {} is of version {}, and this build reads version {}: go on "
                  "with the build that saved it",
                  to_string(node_.op), from.version, known));
  ended_ = from.ended;
  position_reader reader{from};
  if (!ended_)
    if (auto failed = restore_from(reader); !failed.ok())
      return failed.with_context(to_string(node_.op));
  return reader.finish();
} catch (const std::exception& e) {
  return from_exception(e).with_context(to_string(node_.op));
}

block operator_iterator::failure(const status& why) const {
  return block::failed_row(node_.spec.components, why);
}

namespace {

/// The iterator of a whole graph. It owns the engine, which all iterators of the graph share.
class root_iterator final : public iterator {
public:
  root_iterator(dataset_ptr graph, std::shared_ptr<detail::engine> shared,
                std::unique_ptr<iterator> top)
    : graph_(std::move(graph)), engine_(std::move(shared)), top_(std::move(top)) {}
  std::optional<block> next(const limits& wanted) override { return top_->next(wanted); }
  position_ptr save() const override { return top_->save(); }
  status restore(const position& from) override { return top_->restore(from); }

private:
  dataset_ptr graph_;
  std::shared_ptr<detail::engine> engine_;
  std::unique_ptr<iterator> top_;
};

} // namespace

result<std::unique_ptr<iterator>> make_iterator(const dataset_ptr& graph,
                                                const iterator_context& context) {
  if (!graph)
    return invalid_argument("there is no dataset to iterate over");
  HEADRACE_TRY(check_gives_tensors(*graph));
  auto shared = std::make_shared<detail::engine>(
    context, options_of(*graph), context.splits ? plan_splits(graph) : split_plan{});
  HEADRACE_ASSIGN(auto top, shared->make(graph, {}));
  return std::unique_ptr<iterator>{
    std::make_unique<root_iterator>(graph, std::move(shared), std::move(top))};
}

void block_ramp::record(size_t rows, size_t bytes, std::chrono::nanoseconds took) noexcept {
  if (rows == 0)
    return;
  // The estimated cost of a block of as many rows as were requested, based on the rows that were
  // returned: a source may have returned few rows because no more were ready.
  const auto share = static_cast<double>(rows_) / static_cast<double>(rows);
  const auto time = static_cast<double>(took.count()) * share;
  const auto size = static_cast<double>(bytes) * share;
  const auto cost = std::max(time / static_cast<double>(limits_.most_time.count()),
                             size / static_cast<double>(limits_.most_bytes));
  // The next block is to reach a limit: with blocks of half that size, a link would carry almost
  // twice as many messages. The number of rows is at most doubled or halved in one step.
  const auto full = static_cast<double>(rows_) / std::clamp(cost, 0.5, 2.0);
  rows_ = std::clamp<size_t>(static_cast<size_t>(full), 1, limits_.most_rows);
}

} // namespace headrace::detail
