#include "headrace/actors/rounds/rounds_output.hpp"

#include "headrace/pipeline/iterator/gather.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace headrace::detail {

namespace {

/// The most bytes of one message, unless a single element is larger.
constexpr size_t quantum_bytes = 1 << 20;
/// Blocks whose rows have at least this size on average are cut into single rows without a copy.
constexpr size_t large_row_bytes = 16 << 10;

} // namespace

// -- events -----------------------------------------------------------------------------

void rounds_output::produced(block rows) {
  const auto n = lanes_.size();
  const auto first = std::exchange(produced_, produced_ + rows.rows) % n;
  if (n == 1)
    return add(lanes_.front(), std::move(rows));
  if (rows.rows == 1)
    return add(lanes_[first], std::move(rows));
  if (rows.bytes() / rows.rows >= large_row_bytes || rows.rows <= n) {
    for (size_t i = 0; i < rows.rows; ++i) add(lanes_[(first + i) % n], rows.slice(i, 1));
    return;
  }
  const block* const from[] = {&rows};
  uint64_t kernel_calls = 0;
  for (size_t i = 0; i < n; ++i) {
    std::vector<row_run> runs;
    for (size_t row = i; row < rows.rows; row += n)
      append_run(runs, {0, static_cast<uint32_t>(row), 1});
    add(lanes_[(first + i) % n], gather_rows(from, runs, kernel_calls));
  }
}

void rounds_output::add(lane& to, block rows) {
  const auto first = std::exchange(to.made, to.made + rows.rows);
  to.rows.push_back({first, std::move(rows)});
}

status rounds_output::may_end() const {
  return failed_precondition(fmt::format(
    "coordinated reads (consumer_index, num_consumers) need a dataset without an end, and this one "
    "ended after {} elements: all consumers must find an element in each round; add `repeat()`, "
    "or, "
    "if there is one, see that the part of this worker is not empty",
    produced_));
}

rounds_output::lane* rounds_output::of(consumer_id who) {
  const auto at = index_of_.find(who);
  return at == index_of_.end() ? nullptr : &lanes_[at->second];
}

status rounds_output::opened(consumer_id who, const stream_open& how) {
  if (how.index >= lanes_.size())
    return invalid_argument(
      fmt::format("consumer_index is {}, and the job's rounds are shared by {} consumers",
                  how.index, lanes_.size()));
  auto& to = lanes_[how.index];
  const bool same = to.who == who;
  // The first element that is kept; all consumers have handed out the groups before it.
  const auto kept = to.rows.empty() ? to.made : to.rows.front().first;
  if (how.received < kept)
    return aborted(fmt::format(
      "this consumer wants element {} of its stream, and those before {} are not kept any more",
      how.received, kept));
  if (to.who && !same)
    index_of_.erase(*to.who);
  to.who = who;
  index_of_[who] = how.index;
  to.connected = true;
  to.ended = false;
  to.sent = to.received = how.received;
  // A consumer that replaces another one counts the elements before its first own element as handed
  // out. So its number replaces that of the earlier consumer, even if it is lower.
  const auto handed_out = std::min(how.handed_out, how.received);
  to.handed_out = same ? std::max(to.handed_out, handed_out) : handed_out;
  to.granted = 0;
  to.epoch = same ? to.epoch : 0;
  to.told = {};
  to.flights.clear();
  to.held_bytes = 0;
  if (how.received > to.handed_out)
    to.flights.push_back({how.received, 0});
  return {};
}

void rounds_output::grant(consumer_id who, uint64_t handed_out, uint64_t elements, uint64_t bytes,
                          bool) {
  auto* to = of(who);
  if (to == nullptr)
    return;
  to->granted = elements;
  to->window_bytes = bytes;
  this->handed_out(who, handed_out);
}

void rounds_output::lane::forget_flights() {
  while (!flights.empty() && flights.front().end <= handed_out) {
    held_bytes -= flights.front().bytes;
    flights.pop_front();
  }
}

void rounds_output::handed_out(consumer_id who, uint64_t elements) {
  auto* to = of(who);
  if (to == nullptr)
    return;
  to->handed_out = std::max(to->handed_out, std::min(elements, to->sent));
  to->forget_flights();
  forget();
}

void rounds_output::received(consumer_id who, uint64_t elements) {
  if (auto* to = of(who))
    to->received = std::max(to->received, std::min(elements, to->sent));
}

void rounds_output::in_epoch(consumer_id who, uint64_t epoch) {
  if (auto* to = of(who))
    to->epoch = std::max(to->epoch, epoch);
}

void rounds_output::cut(consumer_id who) {
  if (auto* to = of(who))
    to->connected = false;
}

void rounds_output::leave(consumer_id who) {
  auto* to = of(who);
  if (to == nullptr)
    return;
  to->connected = false;
  to->who.reset();
  index_of_.erase(who);
}

uint64_t rounds_output::floor() const noexcept {
  auto out = UINT64_MAX;
  for (const auto& x : lanes_) out = std::min(out, x.handed_out);
  return out;
}

void rounds_output::forget() {
  const auto end = floor();
  for (auto& x : lanes_)
    while (!x.rows.empty() && x.rows.front().end() <= end) x.rows.pop_front();
}

// -- actions ----------------------------------------------------------------------------

bool rounds_output::serve(lane& to, std::vector<action>& out) {
  if (!to.has_room())
    return false;
  const auto at = std::ranges::upper_bound(to.rows, to.sent, {}, &piece::end);
  const auto skip = to.sent - at->first;
  auto count = std::min(at->end(), to.granted) - to.sent;
  const auto room =
    std::min(quantum_bytes, to.window_bytes - std::min<size_t>(to.window_bytes, to.held_bytes));
  // All rows of one block are counted with the same size.
  const auto row_bytes = std::max<size_t>(at->rows.bytes() / at->rows.rows, 1);
  count = std::clamp<uint64_t>(room / row_bytes, 1, count);
  auto rows = at->rows.slice(skip, count);
  const auto bytes = rows.bytes();
  out.push_back(send_block{*to.who, to.sent, std::move(rows)});
  to.sent += count;
  to.held_bytes += bytes;
  to.flights.push_back({to.sent, bytes});
  return true;
}

std::vector<dealer::action> rounds_output::deal_at(time_point, bool) {
  std::vector<action> out;
  for (bool served = true; served;) {
    served = false;
    for (auto& x : lanes_) served |= serve(x, out);
  }
  say_what_arrived(out);
  return out;
}

void rounds_output::say_what_arrived(std::vector<action>& out) {
  auto epoch = UINT64_MAX, groups = UINT64_MAX;
  for (const auto& x : lanes_) {
    epoch = std::min(epoch, x.who ? x.epoch : 0);
    groups = std::min(groups, x.received);
  }
  if (epoch != 0)
    common_ = std::max(common_, {epoch, groups});
  for (auto& x : lanes_) {
    // Only consumers that take part in that epoch need the report.
    if (!x.connected || x.epoch != common_.first || x.told >= common_)
      continue;
    x.told = common_;
    out.push_back(send_received_by_all{*x.who, common_.first, common_.second});
  }
}

std::vector<dealer::send_end> rounds_output::remaining_ends() {
  std::vector<send_end> out;
  for (auto& x : lanes_)
    if (x.who && x.connected && !std::exchange(x.ended, true))
      out.push_back({*x.who, x.sent});
  return out;
}

// -- state ------------------------------------------------------------------------------

std::map<consumer_id, reader_marks> rounds_output::held() const {
  std::map<consumer_id, reader_marks> out;
  for (const auto& x : lanes_)
    if (x.who && x.handed_out < x.sent)
      out[*x.who] = {x.sent, x.handed_out};
  return out;
}

size_t rounds_output::pending_bytes() const {
  size_t out = 0;
  for (const auto& x : lanes_)
    for (auto at = x.rows.rbegin(); at != x.rows.rend() && at->end() > x.sent; ++at)
      out += at->rows.bytes();
  return out;
}

} // namespace headrace::detail
