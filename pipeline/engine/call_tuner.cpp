#include "headrace/pipeline/engine/call_tuner.hpp"

#include <algorithm>
#include <thread>

namespace headrace::detail {

namespace {

// If the operator above (or the user) waits for an operator's rows during at least this share of
// the time, more parallel calls of the operator's function may raise its rate.
constexpr double waits = 0.05;
constexpr double hardly_waits = 0.01;
constexpr double faster = 1.03; // a further call must raise the rate by this factor
// A further call must raise the rate in at least one of this many windows. It is more than one
// window because other load may disturb a measurement.
constexpr unsigned windows_to_show = 3;
constexpr unsigned rest = 16;
constexpr unsigned idles_to_give = 8;

} // namespace

call_tuner::operator_id call_tuner::add(size_t calls) {
  std::lock_guard lock{mutex_};
  size_t others = 0;
  for (const auto& x : all_) others += x.calls;
  const auto left = budget_.calls - std::min(others, budget_.calls);
  const entry one{.calls = std::clamp<size_t>(calls, 1, std::max<size_t>(left, 1))};
  for (operator_id i = 0; i < all_.size(); ++i)
    if (!all_[i].there) {
      all_[i] = one;
      return i;
    }
  all_.push_back(one);
  return all_.size() - 1;
}

void call_tuner::remove(operator_id which) {
  std::lock_guard lock{mutex_};
  all_[which] = {.there = false, .calls = 0};
}

size_t call_tuner::calls(operator_id which) const {
  if (!budget_.adapts)
    return budget_.calls;
  std::lock_guard lock{mutex_};
  return all_[which].calls;
}

bool call_tuner::room_for(const entry& one) const {
  size_t calls = 1, bytes = one.bytes_a_call;
  for (const auto& x : all_) {
    calls += x.calls;
    bytes += x.calls * x.bytes_a_call;
  }
  return calls <= budget_.calls && bytes <= budget_.bytes;
}

void call_tuner::observe(operator_id which, const window& seen) {
  std::lock_guard lock{mutex_};
  auto& x = all_[which];
  const std::chrono::duration<double> passed = seen.passed, waited = seen.waited;
  if (passed.count() <= 0)
    return;
  x.bytes_a_call = seen.bytes_a_call;
  const auto rate = static_cast<double>(seen.rows) / passed.count();
  const auto share = waited.count() / passed.count();
  if (x.tries != 0 && rate < x.rate * faster) {
    if (--x.tries != 0)
      return;
    x.calls = std::max<size_t>(1, x.calls - 1);
    x.rests = rest;
    return;
  }
  x.tries = 0;
  x.idles = share < hardly_waits ? x.idles + 1 : 0;
  if (x.idles == idles_to_give) {
    x.idles = 0;
    x.calls = std::max<size_t>(1, x.calls - 1);
    return;
  }
  // The calls were within the budget of bytes when they were added, but may hold more bytes now.
  size_t held = 0;
  for (const auto& other : all_) held += other.calls * other.bytes_a_call;
  if (held > budget_.bytes && x.calls > 1) {
    --x.calls;
    x.rests = rest;
    return;
  }
  if (x.rests != 0) {
    --x.rests;
    return;
  }
  if (share < waits || !room_for(x))
    return;
  ++x.calls;
  x.rate = rate;
  x.tries = windows_to_show;
}

size_t bytes_of(const graph_options& options) {
  return static_cast<size_t>(options.memory.value_or(int64_t{256} << 20));
}

std::shared_ptr<call_tuner> tuner_for(const graph_options& options) {
  const auto threads = std::max(1u, std::thread::hardware_concurrency());
  return std::make_shared<call_tuner>(
    call_tuner::budget{.calls = static_cast<size_t>(options.threads.value_or(threads)),
                       .bytes = bytes_of(options),
                       .adapts = options.autotune.value_or(true)});
}

} // namespace headrace::detail
