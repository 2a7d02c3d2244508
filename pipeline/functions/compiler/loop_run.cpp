#include "headrace/pipeline/functions/compiler/evaluation.hpp"
#include "headrace/pipeline/functions/representation/loop.hpp"

#include <algorithm>
#include <numeric>

namespace headrace::detail {

namespace {

using row_list = std::vector<uint32_t>;

/// The rows of `x` whose numbers are in `places`; `x` has `rows` rows. A uniform value is returned
/// unchanged.
value rows_at(const value& x, const row_list& places, size_t rows) {
  if (x.uniform || places.size() == rows)
    return x;
  value out;
  column_builder to{x.data.type(), places.size()};
  size_t next = 0;
  for (uint32_t i = 0; i < places.size(); ++i) {
    append_row(to, x, places[i], x.data.rank());
    while (next < x.errors.size() && x.errors[next].row < places[i]) ++next;
    if (next < x.errors.size() && x.errors[next].row == places[i])
      out.errors.push_back({i, x.errors[next].why});
  }
  out.data = std::move(to).finish();
  return out;
}

uint64_t mixed(uint64_t a, uint64_t b) {
  auto x = a + 0x9e3779b97f4a7c15 * (b + 1);
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

/// The seeds of one step: two int64 for each row.
value seeds_of(const value& seeds, uint64_t step) {
  auto out = seeds;
  const auto given = seeds.data.values<int64_t>();
  buffer_builder made;
  for (auto x : given) made.push_back(static_cast<int64_t>(mixed(static_cast<uint64_t>(x), step)));
  out.data = column::dense(dtype::int64, seeds.data.row_shape(), seeds.data.rows(), made.finish());
  return out;
}

/// One run of a loop over rows. A row leaves the loop when its condition is false, or when it
/// fails; the rows that remain are *active*.
class loop_run {
public:
  loop_run(const program::plan::step& step, const loop_parts& parts, row_list rows,
           std::vector<value> state, kernel_counter& counter)
    : step_(step),
      parts_(parts),
      active_(std::move(rows)),
      state_(std::move(state)),
      counter_(counter) {}

  void run() {
    for (int64_t steps = 0; !active_.empty(); ++steps) {
      if (counter_.stop.stop_requested()) {
        fail_all(cancelled("while_loop: a stop was requested"));
        return;
      }
      if (parts_.seeds)
        seeds_ = seeds_of(state_.back(), static_cast<uint64_t>(steps));
      const auto go_on =
        steps != parts_.most_steps ? goes_on() : std::vector<uint8_t>(active_.size());
      leave(go_on);
      if (!active_.empty())
        advance();
    }
  }

  /// The last values of the variables, for the `rows` rows outside of the loop. A row that failed,
  /// or did not take part in the loop, may have any value.
  std::vector<column> results(size_t rows) const {
    std::vector<column> out;
    for (size_t v = 0; v < parts_.variables.size(); ++v) {
      auto spec = parts_.variables[v]->spec;
      spec.dims = shape::join(spec.dims, parts_.after[v]->spec.dims);
      out.push_back(result_of(v, rows, spec));
    }
    return out;
  }

  std::vector<row_error> errors; ///< with the numbers that rows have outside of the loop; unsorted

private:
  struct piece {
    row_list rows;
    std::vector<value> variables;
  };

  std::vector<value> computed(const program::plan& plan) {
    block rows;
    rows.rows = active_.size();
    auto given = state_;
    if (parts_.seeds)
      given.back() = seeds_;
    std::vector<value> out;
    evaluation one{plan, rows, std::span<const value>{given}, counter_};
    for (const auto* x : one.run_values()) out.push_back(*x);
    return out;
  }

  /// One byte for each active row. 1: the row goes on, 0: it is done, 2: it has failed.
  std::vector<uint8_t> goes_on() {
    const auto made = computed(*step_.condition).front();
    std::vector<uint8_t> out(active_.size());
    const auto flags = made.data.values<bool>();
    for (size_t r = 0; r < out.size(); ++r) {
      const auto row = made.uniform ? 0 : r;
      const auto first = made.data.first_value(row);
      if (made.data.first_value(row + 1) - first == 1)
        out[r] = flags[static_cast<size_t>(first)] ? 1 : 0;
      else
        fail(out, r, invalid_argument("while_loop: the condition must be a bool scalar"));
    }
    take_errors(out, made);
    return out;
  }

  void fail(std::vector<uint8_t>& fates, size_t r, const status& why) {
    if (fates[r] != 2)
      errors.push_back({active_[r], why});
    fates[r] = 2;
  }
  void take_errors(std::vector<uint8_t>& fates, const value& x) {
    for (const auto& e : spread(x, fates.size(), false)) fail(fates, e.row, e.why);
  }
  void fail_all(const status& why) {
    for (auto r : active_) errors.push_back({r, why});
    active_.clear();
  }

  /// Stores the values of rows that are done, and removes from the active rows all rows that do not
  /// go on. `fates`: as `goes_on` returns them.
  void leave(const std::vector<uint8_t>& fates) {
    row_list done, rest;
    for (uint32_t r = 0; r < fates.size(); ++r)
      if (fates[r] != 2)
        (fates[r] == 1 ? rest : done).push_back(r);
    const auto rows = active_.size();
    if (!done.empty()) {
      piece ended;
      for (auto r : done) ended.rows.push_back(active_[r]);
      for (size_t v = 0; v < parts_.variables.size(); ++v)
        ended.variables.push_back(rows_at(state_[v], done, rows));
      done_.push_back(std::move(ended));
    }
    if (rest.size() == rows)
      return;
    row_list left;
    for (auto r : rest) left.push_back(active_[r]);
    active_ = std::move(left);
    if (active_.empty())
      return;
    for (auto& x : state_) x = rows_at(x, rest, rows);
    if (parts_.seeds)
      seeds_ = rows_at(seeds_, rest, rows);
  }

  void advance() {
    auto made = computed(*step_.after);
    std::vector<uint8_t> fates(active_.size(), 1);
    for (const auto& x : made) take_errors(fates, x);
    for (size_t v = 0; v < made.size(); ++v) {
      auto& x = made[v];
      state_[v] = {x.uniform ? repeat_row(x.data, active_.size()) : std::move(x.data), false, {}};
    }
    leave(fates);
  }

  column result_of(size_t v, size_t rows, const tensor_spec& spec) const {
    if (done_.size() == 1 && done_.front().rows.size() == rows)
      return done_.front().variables[v].data;
    std::vector<std::pair<const piece*, uint32_t>> places(rows);
    for (const auto& p : done_)
      for (uint32_t i = 0; i < p.rows.size(); ++i) places[p.rows[i]] = {&p, i};
    const auto rank = spec.dims.has_rank() ? spec.dims.rank() : 0;
    const auto nothing = shape_of_nothing(spec, rank);
    column_builder out{spec.type, rows};
    for (const auto& [from, r] : places) {
      if (from == nullptr)
        out.end_row_of_nothing(nothing);
      else
        append_row(out, from->variables[v], r, from->variables[v].data.rank());
    }
    return std::move(out).finish();
  }

  const program::plan::step& step_;
  const loop_parts& parts_;
  row_list active_;          ///< the rows that go on
  std::vector<value> state_; ///< for the active rows: the variables, then the captures
  value seeds_;
  std::vector<piece> done_;
  kernel_counter& counter_;
};

} // namespace

void evaluation::run_loop(const program::plan::step& step) {
  const auto& item = plan_.items[step.nodes.front()];
  const auto parts = parts_of(*item.node);
  const size_t rows = item.uniform ? 1 : in_.rows;
  std::vector<uint8_t> own;
  auto skip = skipped(step, own);
  if (item.uniform && !skip.empty()) // One row stands for all rows.
    skip.assign(1, static_cast<uint8_t>(std::ranges::all_of(skip, [](auto x) { return x != 0; })));
  skip.resize(rows);
  std::vector<row_error> errors;
  for (size_t v = 0; v < parts.variables.size(); ++v)
    merge(errors, spread(at(item.inputs[v]), rows, item.uniform));
  for (const auto& e : errors) skip[e.row] = 1;
  row_list active;
  for (uint32_t r = 0; r < rows; ++r)
    if (skip[r] == 0)
      active.push_back(r);
  std::vector<value> state;
  for (size_t i = 0; i < item.inputs.size(); ++i) {
    auto x = at(item.inputs[i]);
    if (i < parts.variables.size()) {
      // Rows with errors are not among the active ones.
      x.errors.clear();
      if (x.uniform)
        x = {repeat_row(x.data, rows), false, {}};
    }
    state.push_back(active.empty() ? std::move(x) : rows_at(x, active, rows));
  }
  loop_run loop{step, parts, std::move(active), std::move(state), counter_};
  loop.run();
  std::stable_sort(loop.errors.begin(), loop.errors.end(),
                   [](const row_error& a, const row_error& b) { return a.row < b.row; });
  merge(errors, loop.errors);
  const auto made = loop.results(rows);
  for (auto i : step.nodes)
    values_[i] = {made[static_cast<size_t>(plan_.items[i].node->attrs.index)], item.uniform,
                  errors};
}

} // namespace headrace::detail
