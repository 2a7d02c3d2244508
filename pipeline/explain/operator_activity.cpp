#include "headrace/pipeline/explain/operator_activity.hpp"

#include <algorithm>

namespace headrace::detail {

namespace {

double part(uint64_t before, uint64_t after, double whole) {
  return after <= before ? 0 : static_cast<double>(after - before) / whole;
}

/// Divides the whole time, 1, into shares: each call of `take` gives at most the part that earlier
/// calls have left.
class rest {
public:
  double take(double wanted) {
    const auto out = std::clamp(wanted, 0., left_);
    left_ -= out;
    return out;
  }
  double take_all() { return take(left_); }

private:
  double left_ = 1;
};

time_shares shares_of(const operator_totals& a, const operator_totals& b, double whole,
                      bool threads, double calls) {
  time_shares out;
  rest left;
  const auto in_next = std::min(1., part(a.time_ns, b.time_ns, whole));
  out.lease = left.take(part(a.lease_ns, b.lease_ns, whole));
  out.storage = left.take(part(a.storage_ns, b.storage_ns, whole));
  if (threads) {
    out.busy = left.take(part(a.work_ns, b.work_ns, whole * calls));
    out.memory = left.take(part(a.memory_ns, b.memory_ns, whole));
    // Outside of calls of `next`, an operator that neither works nor lacks memory holds as many
    // rows as it may, so it waits for its output.
    out.output = left.take(1 - in_next);
    // If no call of the function has returned since `a`, the rest of the time belongs to calls that
    // still run. An operator without a function only reads ahead, and the rest of its time belongs
    // to its input.
    if (b.work_ns == a.work_ns)
      (b.calls == 0 ? out.input : out.busy) += left.take_all();
    out.input += left.take(part(a.below_ns, b.below_ns, whole));
    out.queued = left.take_all();
    return out;
  }
  out.input = left.take(part(a.below_ns, b.below_ns, whole));
  out.busy = left.take(in_next - out.lease - out.storage - out.input);
  out.output = left.take_all();
  return out;
}

} // namespace

std::vector<operator_activity> activity_between(const operator_table& table,
                                                const std::vector<operator_totals>& before,
                                                const std::vector<operator_totals>& after,
                                                duration took) {
  std::vector<operator_activity> out;
  const auto seconds = in_seconds(took);
  if (seconds <= 0)
    return out;
  for (size_t i = 0; i < table.size(); ++i) {
    const auto& is = table.at(i);
    const auto &a = before[i], &b = after[i];
    auto& to = out.emplace_back();
    to.name = is.name;
    to.depth = static_cast<uint32_t>(is.depth);
    to.in_function = is.caller != SIZE_MAX;
    to.calls = static_cast<double>(std::max<uint64_t>(b.calls, 1));
    // Each concurrent call of a function runs the function's dataset, so an operator in that
    // dataset runs `runs` times at once.
    const auto runs = to.in_function ? out[is.caller].calls : 1;
    if (to.in_function)
      to.calls *= runs;
    to.rows_per_second = part(a.rows, b.rows, seconds);
    to.bytes_per_second = part(a.bytes, b.bytes, seconds);
    to.shares = shares_of(a, b, static_cast<double>(took.count()) * runs,
                          works_on_threads(*is.node, b.samples - a.samples), to.calls / runs);
  }
  return out;
}

std::vector<operator_activity> operator_window::look(time_point now) {
  readings_.push_back({now, table_.read()});
  // Drops old readings. The remaining ones span at least `length`, unless all readings span less.
  while (readings_.size() > 2 && now - readings_[1].when >= length) readings_.pop_front();
  const auto& first = readings_.front();
  return activity_between(table_, first.totals, readings_.back().totals, now - first.when);
}

} // namespace headrace::detail
