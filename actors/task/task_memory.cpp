#include "headrace/actors/task/task_memory.hpp"

#include "headrace/actors/protocol/codec/stream_codec.hpp"
#include "headrace/actors/stream/stream_message.hpp"
#include "headrace/pipeline/codec/block_sample.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>
#include <variant>

namespace headrace::detail {

namespace {

/// The runner's thread sends rows itself if they took less than this time per byte to produce. To
/// send a byte takes about a third of this time: if rows take longer to produce, sending them on
/// the actor's thread at the same time saves more than the change of threads costs.
constexpr std::chrono::nanoseconds cheap_byte{1};

} // namespace

void task_memory::give_up(const status& why) {
  std::lock_guard hold{mutex};
  for (const auto& what : core.give_up(why))
    if (const auto* last = std::get_if<produce::send>(&what))
      if (const auto at = routes.find(last->over); at != routes.end())
        at->second.over->send(write_message(at->second.channel, last->what));
}

produce::commands task_memory::send(produce::commands what, time_point now) {
  produce::commands rest;
  append_to(rest, std::move(what), now);
  return rest;
}

void task_memory::append_to(produce::commands& rest, produce::commands what, time_point now) {
  for (auto& one : what) {
    if (const auto* message = std::get_if<produce::send>(&one)) {
      send(*message);
      // The failure is sent before the messages that follow, which may be the stream's end.
      if (too_large_ && !core.over())
        append_to(rest, core.cannot_send(*too_large_, now), now);
    } else if (const auto* ends = std::get_if<produce::close_link>(&one)) {
      if (const auto at = routes.find(ends->over); at != routes.end())
        at->second.over->close(ends->why);
    } else {
      rest.push_back(std::move(one));
    }
  }
}

void task_memory::send(const produce::send& what) {
  const auto at = routes.find(what.over);
  if (at == routes.end())
    return;
  auto& to = at->second;
  if (const auto* rows = std::get_if<stream_block>(&what.what))
    return send(to, *rows);
  to.over->send(write_message(to.channel, what.what));
}

void task_memory::send(route& to, const stream_block& what) {
  if (too_large_)
    return;
  if (to.over->in_process())
    return void(to.over->send(share_block(to.channel, what)));
  const auto& rows = what.rows;
  const bool packs = to.packing.next(rows.bytes(), [&] { return sampled_share(rows); });
  auto carrier = write_block(to.channel, what, packs);
  const auto fits = to.over->limits().check(carrier);
  if (fits)
    return void(to.over->send(std::move(carrier)));
  if (const auto half = rows.rows / 2; half != 0) {
    send(to, {.first = what.first,
              .rows = rows.slice(0, half),
              .skipped = what.skipped,
              .claimed = what.claimed});
    return send(to, {.first = what.first + half,
                     .rows = rows.slice(half, rows.rows - half),
                     .skipped = what.skipped,
                     .claimed = what.claimed});
  }
  too_large_ = resource_exhausted(fmt::format(
    "an element of {} bytes cannot be sent: {}; make elements of fewer or smaller components",
    carrier.byte_size(), fits.message()));
}

produce::commands task_memory::deal_waiting(time_point now) {
  produce::commands rest;
  for (auto& x : std::exchange(waiting, {}))
    append_to(rest, core.produced(x.run, std::move(x.rows), now), now);
  return rest;
}

size_t deal_rows(task_memory& of, uint64_t actor, uint64_t run, block rows, duration took) {
  std::lock_guard hold{of.mutex};
  if (of.actor != actor || of.thrown)
    return 0;
  // Blocks for consumers in this process are passed by pointer, and are left to the actor's thread:
  // the benchmark `local_64k` reached 0.8 of its rate when the runner's thread sent them.
  const bool sends =
    took < rows.bytes() * cheap_byte && std::ranges::none_of(of.routes, [](const auto& entry) {
      return entry.second.over->in_process();
    });
  size_t taken = 0;
  try {
    of.waiting.push_back({run, std::move(rows)});
    auto todo = sends ? of.deal_waiting(of.now()) : produce::commands{};
    for (auto& one : todo)
      if (const auto* bytes = std::get_if<produce::take_over_bytes>(&one))
        taken += bytes->bytes;
      else
        of.left.push_back(std::move(one));
  } catch (...) {
    // The actor ends with this error, as if it had dealt the rows.
    of.thrown = std::current_exception();
  }
  const auto next = of.core.next_deadline();
  const bool is_earlier = next && (!of.reminder || *next < *of.reminder);
  if (!of.announced && (is_earlier || of.thrown || !of.waiting.empty() || !of.left.empty())) {
    of.announce();
    of.announced = true;
  }
  return taken;
}

} // namespace headrace::detail
