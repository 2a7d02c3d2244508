#include "headrace/actors/consumer/consumer_core.hpp"
#include "headrace/actors/protocol/rounds_ahead.hpp"
#include "headrace/runtime/base/overloaded.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace headrace::detail {

// This file has the streams to tasks: their opening, their credit and their messages.

namespace {

constexpr duration first_redial_pause = std::chrono::milliseconds{10};
constexpr duration longest_redial_pause = std::chrono::milliseconds{500};

stream_credit::progress progress_of(const handout::marks& m, bool waiting, bool ended = false) {
  return {m.handed_out, m.received, m.bytes, m.taken_bytes, waiting, ended};
}

claim_ahead::progress claims_of(const handout::marks& m) {
  return {m.handed_out, m.received, m.confirmed, m.held_up};
}

} // namespace

bool consumer_core::needs_link(const stream& s) {
  // A task that gave everything runs until it has received the reports that all its elements were
  // handed out. These reports need a link.
  return !s.open && !s.lost && !s.unplaced && (!s.ended || (s.named && s.outcome));
}

consume::commands consumer_core::linked(const std::string& address, time_point now) {
  if (left_)
    return {};
  for (auto& [id, s] : streams_)
    if (s.address == address && needs_link(s))
      open(id, s, now);
  fence(now);
  return done();
}

consume::commands consumer_core::not_linked(const std::string& address, const status& why,
                                            time_point now) {
  if (left_)
    return {};
  log_.debug("worker not reached", {{"address", address}, {"why", why}});
  for (auto& [id, s] : streams_)
    if (s.address == address && needs_link(s)) {
      s.unreached = why;
      reconnect(s, now);
    }
  return done();
}

consume::commands consumer_core::stream_cut(task_id task, const status& why, time_point now) {
  auto at = streams_.find(task);
  if (left_ || at == streams_.end())
    return {};
  auto& s = at->second;
  s.open = false;
  if (!s.away_since)
    s.away_since = now;
  if (needs_link(s)) {
    log_.info("connection to a worker lost", {{"address", s.address}, {"why", why}});
    s.unreached = why;
    reconnect(s, now);
  }
  fence(now);
  return done();
}

void consumer_core::reconnect(stream& s, time_point now) {
  if (!needs_link(s))
    return;
  s.pause = std::max(s.pause, first_redial_pause);
  s.retry_at = now + s.pause;
  s.pause = std::min<duration>(s.pause * 2, longest_redial_pause);
}

void consumer_core::open(task_id id, stream& s, time_point now) {
  if (!std::exchange(s.opened, true)) {
    // With a cache or in rounds, elements that are sent to this trainer are not taken away from
    // another one, so the first grant need not be small.
    s.credit = options_.parameters.cross_trainer_cache || in_rounds()
                 ? stream_credit::of_own_elements(options_.stream_bytes)
                 : stream_credit{shared_, 0, options_.stream_bytes};
    share_credit();
  }
  s.open = true;
  s.served = false;
  s.retry_at.reset();
  const auto marks = out_->of(id);
  const auto waiting = out_->waiting();
  s.credit.reopened(progress_of(marks, waiting));
  then(consume::open_stream{id, s.address});
  then(consume::send{id, stream_open{.task = id,
                                     .life = s.life,
                                     .consumer = id_,
                                     .received = marks.received,
                                     .handed_out = s.in_use.handed_out(marks),
                                     .packing = options_.packing,
                                     .trainer = options_.trainer,
                                     .start = options_.start,
                                     .index = options_.index}});
  grant(id, s, marks, waiting);
  // This stream may have less credit than the others. Then the handout must report after fewer
  // bytes than before (`quiet_bytes`), which `refill` requests from it.
  refill(now);
}

void consumer_core::grant(task_id id, stream& s, const handout::marks& marks, bool waiting) {
  auto window = s.credit.now(marks.handed_out);
  // Rows that a leaving task cannot send are lost with its worker, so it gets all possible credit.
  if (s.leaving && options_.max_outstanding == 0)
    window = {marks.handed_out + stream_credit::unbounded, options_.consumer_bytes};
  s.credit.said(waiting);
  const auto reported = s.in_use.report(marks);
  // The task counts elements in use as not handed out, so the credit is raised by their bytes.
  const auto in_use_bytes = reported == marks.handed_out ? 0 : marks.in_use_bytes;
  then(consume::send{id, stream_grant{.handed_out = reported,
                                      .elements = window.elements,
                                      .bytes = window.bytes + in_use_bytes,
                                      .waiting = waiting,
                                      .received = marks.received,
                                      .claimed = s.claims.claim(marks.handed_out),
                                      .epoch = in_rounds() ? out_->rounds().epoch : 0,
                                      .taken = marks.handed_out}});
}

consume::commands consumer_core::arrived(task_id task, result<from_task> what, time_point now) {
  auto at = streams_.find(task);
  if (left_ || at == streams_.end() || !at->second.open)
    return {};
  auto& s = at->second;
  // After a refusal the pauses between attempts keep growing.
  if (what && !std::holds_alternative<stream_failed>(*what))
    s.pause = {};
  if (what && !s.served && !std::holds_alternative<stream_failed>(*what)) {
    s.served = true;
    s.away_since.reset();
    fence(now);
  }
  if (!what) {
    reject(task, s, what.status());
    return done();
  }
  std::visit(overloaded{
               [](const stream_opened&) {},
               [&](stream_block& x) {
                 rows_came_at_ = now;
                 note_skips(s, x.skipped);
                 accept(task, s, std::move(x), now);
               },
               [&](const stream_recall& x) { answer_recall(task, s, x, now); },
               [&](const stream_end& x) {
                 s.ended = true;
                 s.outcome = x.outcome;
                 fence(now);
                 refill(now);
                 share_credit();
                 conclude();
               },
               [&](const stream_failed& x) { on_failed(task, s, x.why, now); },
               [&](const stream_received_by_all& x) {
                 if (in_rounds())
                   out_->received_by_all(task, x.epoch, x.elements);
               },
               [&](const stream_leaving&) {
                 s.leaving = true;
                 grant(task, s, out_->of(task), out_->waiting());
               },
               [&](const stream_claimed& x) { confirmed(task, s, x.elements, now); },
             },
             *what);
  return done();
}

void consumer_core::note_skips(stream& s, uint64_t skipped) {
  if (skipped <= s.skipped)
    return;
  skipped_ += skipped - std::exchange(s.skipped, skipped);
  // A slow trainer may skip often, so not every skip is logged. The total is in the remark at the
  // end.
  if (skipped_ < 2 * skips_reported_)
    return;
  out_->remark(skips());
  skips_reported_ = skipped_;
  log_.warn("this trainer has skipped elements of the cross-trainer cache",
            {{"trainer", options_.trainer}, {"skipped_so_far", skipped_}});
}

std::string consumer_core::skips() const {
  const auto limit = options_.parameters.cross_trainer_cache.value_or(cache_terms{}).wait;
  return fmt::format(
    "trainer '{}' was too slow for the cross-trainer cache, or away: {} elements were made and "
    "dropped before it read them; {}",
    options_.trainer, skipped_,
    limit ? fmt::format("the others wait up to {:g} s for a trainer that is there (on_lag "
                        "\"wait\"): a longer limit, or a larger cache on the workers "
                        "(cross_trainer_cache_size_bytes), gives it more time",
                        in_seconds(*limit))
          : "give the workers a larger cache (cross_trainer_cache_size_bytes), or ask for on_lag "
            "\"wait\"");
}

void consumer_core::confirmed(task_id id, stream& s, uint64_t elements, time_point now) {
  if (s.ended)
    return;
  s.claims.answered(claims_of(out_->of(id)));
  out_->confirm(id, elements);
  s.credit.task_forgot();
  refill(now);
}

void consumer_core::answer_recall(task_id id, stream& s, const stream_recall& what,
                                  time_point now) {
  const auto mark = out_->recall(id, what.keep);
  s.received.give_back(mark);
  s.claims.gave_back(mark);
  then(consume::send{id, stream_recalled{what.id, mark}});
  s.credit.task_forgot();
  refill(now, true);
}

void consumer_core::on_failed(task_id id, stream& s, const status& why, time_point now) {
  // A task that was restarted after it gave everything still needs this consumer's report of what
  // was handed out.
  if (s.ended && !(why.code() == status_code::not_found && s.named && s.outcome))
    return;
  if (why.code() == status_code::aborted)
    return give_up_all(why.with_context("worker " + s.address));
  // The task has ended since the job's last announcement, its actor was restarted, or its job has
  // not named this consumer to it yet. The stream is opened again until an announcement no longer
  // names the task.
  if (why.code() == status_code::not_found) {
    log_.debug("stream refused", {{"task", id}, {"why", why}});
    then(consume::close_stream{id});
    s.open = false;
    s.unreached = why;
    if (!s.away_since)
      s.away_since = now;
    return reconnect(s, now);
  }
  fail(why.with_context("worker " + s.address));
}

void consumer_core::accept(task_id id, stream& s, stream_block in, time_point now) {
  // New rows would be handed out before the error, and could delay the error for ever.
  if (failed_)
    return;
  auto& rows = in.rows;
  const auto received = out_->of(id).received;
  if (in.first > received)
    return reject(
      id, s,
      data_loss(fmt::format("it begins at element {}, but {} were received", in.first, received)));
  // The block was sent again: its rows that were received before are dropped.
  if (const auto known = received - in.first; known != 0) {
    if (known >= rows.rows && in.claimed != 0)
      confirmed(id, s, in.claimed, now);
    if (known >= rows.rows)
      return s.leaving ? grant(id, s, out_->of(id), out_->waiting()) : void();
    rows = rows.slice(known, rows.rows - known);
  }
  for (auto& e : rows.errors) e.why = e.why.with_context("worker " + s.address);
  if (options_.parameters.mode == sharding_policy::dynamic)
    s.received.add(rows);
  s.credit.make_room(rows.bytes() / std::max<size_t>(rows.rows, 1), options_.consumer_bytes);
  s.credit.task_forgot();
  out_->add(id, std::move(rows), s.ended ? 0 : in.claimed);
  if (const auto marks = out_->of(id);
      s.leaving || in_rounds() || s.claims.update(claims_of(marks)))
    grant(id, s, marks, out_->waiting());
}

void consumer_core::reject(task_id id, stream& s, const status& why) {
  if (failed_)
    return;
  const auto what = fmt::format("cannot read what task {:x} of the worker at {} sent: {}", id.value,
                                s.address, why.message());
  // These failures do not mean that the message is damaged.
  const bool is_ours =
    why.code() == status_code::resource_exhausted || why.code() == status_code::internal;
  const auto said =
    is_ours ? status{why.code(), what}
            : data_loss(what + "; trainer and worker should be of one version of headrace");
  log_.error("bad stream message", {{"task", id}, {"address", s.address}, {"why", said}});
  s.ended = true;
  fail(said);
}

void consumer_core::drop(task_id id, stream& s) {
  if (std::exchange(s.lost, true))
    return;
  s.ended = true;
  s.leaving = false;
  if (!std::exchange(s.open, false))
    return;
  then(consume::close_stream{id});
}

// -- the owner of rows --------------------------------------------------------------------

bool consumer_core::owns(const stream& s, time_point now) const {
  // A task that serves this consumer recalls rows over the link as long as the link is open, and
  // deals none of them to others before the lease at the job has expired. Rows of a task that is
  // over can go to no other reader.
  return !shared_ || (s.open && s.served && !doubt_since_) || s.ended
         || now < lease_until_ - timing_.lease + trust();
}

void consumer_core::fence(time_point now) {
  for (auto& [id, s] : streams_) {
    // Except under DYNAMIC, a lost task continues if its worker comes back.
    const bool back = s.lost && options_.parameters.mode != sharding_policy::dynamic;
    if (s.ended && !back && !failed_)
      out_->own(id);
    const bool hold = !owns(s, now);
    if (hold == s.held)
      continue;
    s.held = hold;
    hold ? out_->hold(id) : out_->release(id);
  }
}

void consumer_core::give_up_all(const status& why) {
  for (auto& [id, s] : streams_) {
    if (shared_ && !s.ended) {
      const auto mark = out_->recall_all(id);
      if (s.open)
        then(consume::send{id, stream_grant{.handed_out = mark, .received = mark}});
    }
    if (!s.open)
      continue;
    if (shared_ && s.ended) // the trainer may take the rows that have arrived
      then(consume::send{id, stream_grant{.handed_out = out_->of(id).received}});
    then(consume::send{id, stream_close{}});
    then(consume::close_stream{id});
    s.open = false;
    s.ended = true;
  }
  fail(why);
}

// -- credit -------------------------------------------------------------------------------

bool consumer_core::is_live(task_id task) const {
  const auto at = streams_.find(task);
  return at != streams_.end() && !at->second.ended;
}

uint64_t consumer_core::live_streams() const {
  return static_cast<uint64_t>(
    std::ranges::count_if(streams_, [](const auto& entry) { return !entry.second.ended; }));
}

void consumer_core::share_credit() {
  const auto live = std::max<uint64_t>(live_streams(), 1);
  // Without this bound, new tasks would serve no round until all rounds that were sent ahead are
  // over.
  const auto most = in_rounds() ? most_rounds_ahead : stream_credit::unbounded;
  const auto elements =
    options_.max_outstanding == 0
      ? most
      : std::max<uint64_t>(static_cast<uint64_t>(options_.max_outstanding) / live, 1);
  const auto bytes = std::min(options_.stream_bytes, options_.consumer_bytes / live);
  for (auto& [id, s] : streams_)
    if (!s.ended && s.opened && s.credit.bound(elements, bytes) && s.open)
      grant(id, s, out_->of(id), out_->waiting());
}

void consumer_core::forget_ended() {
  std::erase_if(streams_, [&](const auto& entry) {
    const auto& [id, s] = entry;
    // A lost task may come back and continue, except under DYNAMIC; in coordinated reads another
    // task takes its place.
    const bool may_continue =
      s.lost && !in_rounds() && options_.parameters.mode != sharding_policy::dynamic;
    if (!s.ended || s.named || may_continue || (s.open && !s.outcome))
      return false;
    if (receipts_due_.contains(id)) // the receipt is made of what the stream has recorded
      return false;
    if (in_rounds()) {
      if (out_->serves_rounds(id))
        return false;
      out_->recall_all(id); // these rows belong to no round
    }
    const auto marks = out_->of(id);
    if (s.in_use.handed_out(marks) != marks.received)
      return false;
    (s.outcome == task_outcome::exhausted ? forgot_exhausted_ : forgot_other_) = true;
    forgot_unread_ |= !s.outcome && !s.lost;
    forgot_handed_out_ += marks.handed_out;
    if (s.open)
      then(consume::close_stream{id});
    out_->erase(id);
    return true;
  });
}

uint64_t consumer_core::quiet_bytes() const {
  // The job waits until all held rows are handed out.
  if (std::ranges::any_of(held_, [](const auto& x) { return !x.second; }))
    return 0;
  auto out = stream_credit::unbounded;
  for (const auto& [id, s] : streams_)
    if (s.open)
      out = std::min(out, s.ended ? 0 : s.credit.quiet_bytes());
  return streams_.empty() ? 0 : out;
}

void consumer_core::refill(time_point now, bool always) {
  bool waiting = false;
  const auto marks = out_->look(waiting, quiet_bytes());
  for (auto& [id, s] : streams_) {
    // A stream on which nothing has arrived has no marks, but its task is sent reports, too.
    const auto at = marks.find(id);
    const auto m = at == marks.end() ? handout::marks{} : at->second;
    s.received.handed_out(m.handed_out);
    const bool due = s.in_use.update(m, now) || always;
    if (!s.open)
      continue;
    bool tells = s.credit.update(progress_of(m, waiting, s.ended), always);
    tells |= s.claims.update(claims_of(m));
    // The end of the task may wait for the report about elements in use.
    tells |= due && s.in_use.has_more_to_report(m);
    // `spare`: an earlier recall left one row here, because the trainer was waiting. The trainer
    // has taken a row of another task since then, so this row can be given back: after the grant
    // the task may send another recall.
    if (tells || (m.spare && m.received != m.handed_out))
      grant(id, s, m, waiting);
  }
}

} // namespace headrace::detail
