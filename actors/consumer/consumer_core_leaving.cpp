#include "headrace/actors/consumer/consumer_core.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace headrace::detail {

// The trainer leaves: each task is sent a last grant and a close over its link. The job is sent a
// goodbye, which is repeated until it is acknowledged.

namespace {

constexpr duration goodbye_pause = std::chrono::milliseconds{500};

} // namespace

consume::commands consumer_core::trainer_leaves(time_point now) {
  left_ = true;
  if (known_ && !over_before_) { // else the consumer is not a reader of the job
    goodbye_ = {{id_, job_, options_.repetition}, {}};
    // The link to a task may be down, so the goodbye contains how many elements were handed out.
    if (shared_) {
      // All receipts must fit into one message.
      const auto most_runs =
        std::min(most_receipt_runs, 4 * most_receipt_runs / std::max<size_t>(streams_.size(), 1));
      for (auto& [id, s] : streams_) {
        const auto marks = out_->of(id);
        goodbye_->handed_out[id] = marks.handed_out;
        s.received.give_back(marks.handed_out);
        if (options_.parameters.mode == sharding_policy::dynamic && !finished_
            && (!accounted_.contains(id) || receipts_due_.contains(id)))
          goodbye_->receipts.push_back(receipt_of(id, s, most_runs));
      }
    }
    goodbye_until_ = now + options_.goodbye_timeout;
    say_goodbye();
  }
  auto out = done();
  std::ranges::move(close_streams(), std::back_inserter(out));
  if (!goodbye_)
    out.emplace_back(consume::quit{});
  return out;
}

void consumer_core::say_goodbye() {
  goodbye_at_.reset();
  if (connected_ && goodbye_)
    then(consume::say_goodbye{*goodbye_});
}

void consumer_core::say_goodbye_later(time_point now) { goodbye_at_ = now + goodbye_pause; }

void consumer_core::quit() {
  if (std::exchange(goodbye_, {}))
    then(consume::quit{});
}

consume::commands consumer_core::goodbye_answered(const status& how, time_point now) {
  // The job's actor has ended: the goodbye is repeated, and the next actor of the job receives it.
  if (how.code() == status_code::unavailable) {
    say_goodbye_later(now);
    return done();
  }
  if (!how)
    log_.info("the job did not know a reader that left", {{"why", how}});
  quit();
  return done();
}

consume::commands consumer_core::goodbye_unanswered(const status& why, time_point now) {
  if (why.code() == status_code::deadline_exceeded)
    then(consume::renew_dispatcher{why});
  else
    say_goodbye_later(now);
  return done();
}

consume::commands consumer_core::consumer_ends(const status& why) {
  left_ = true;
  out_->finish(why);
  for (const auto& [id, s] : streams_) {
    // If the repetition is finished, all rows belong to the trainer, which can still take them.
    // Else the rows that the trainer was not handed go to other readers.
    const auto mark = ended_ ? out_->of(id).received : out_->recall_all(id);
    if (s.open)
      close(id, mark);
  }
  return done();
}

consume::commands consumer_core::close_streams() {
  left_ = true;
  for (const auto& [id, s] : streams_)
    if (s.open)
      close(id, out_->of(id).handed_out);
  return done();
}

void consumer_core::close(task_id id, uint64_t handed_out) {
  // Rows that the trainer was handed must not go to others.
  then(consume::send{id, stream_grant{.handed_out = handed_out}});
  then(consume::send{id, stream_close{}});
  then(consume::close_stream{id});
}

std::optional<time_point> consumer_core::goodbye_deadline() const {
  if (!goodbye_)
    return {};
  return std::min(goodbye_until_, goodbye_at_.value_or(goodbye_until_));
}

consume::commands consumer_core::look_at_goodbye(time_point now) {
  if (goodbye_ && goodbye_until_ <= now) {
    log_.warn("a reader left and its job did not answer", {{"job", job_}});
    quit();
  } else if (goodbye_at_ && *goodbye_at_ <= now) {
    say_goodbye();
  }
  return done();
}

} // namespace headrace::detail
