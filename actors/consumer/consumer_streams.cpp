#include "headrace/actors/consumer/consumer_actor.hpp"
#include "headrace/actors/stream/stream_message.hpp"
#include "headrace/pipeline/codec/block_codec.hpp"
#include "headrace/pipeline/codec/vocabulary_codec.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace headrace {

// The streams to tasks: opening, credit, what arrives.

namespace {

constexpr duration first_redial_pause = std::chrono::milliseconds{10};
constexpr duration longest_redial_pause = std::chrono::milliseconds{500};

stream_credit::progress progress_of(const handout::marks& m, bool waiting, bool ended = false) {
  return {m.handed_out, m.received, m.bytes, m.taken_bytes, waiting, ended};
}

} // namespace

void consumer_state::on(const link_made& what) {
  for (auto& [id, s] : streams_) {
    if (s.address != what.address || s.over || s.ended)
      continue;
    if (what.made) {
      s.over = what.made;
      open(id, s);
    } else {
      log_.debug("worker not reached", {{"address", what.address}, {"why", what.why}});
      s.unreached = what.why;
      reconnect(id, s);
    }
  }
}

void consumer_state::open(task_id id, stream& s) {
  s.channel = links_->open_channel(s.over, consumer_handle{self_});
  if (s.channel == 0) {
    s.over.reset();
    return reconnect(id, s);
  }
  by_channel_[{s.over.get(), s.channel}] = id;
  if (!s.opened)
    s.credit = stream_credit{
      shared_,
      options_.max_outstanding == 0
        ? 0
        : std::max<uint64_t>(static_cast<uint64_t>(options_.max_outstanding) / streams_.size(), 1),
      std::min(options_.stream_bytes, options_.consumer_bytes / streams_.size())};
  s.opened = true;
  const auto marks = out_->of(id);
  const auto waiting = out_->waiting();
  s.credit.reopened(progress_of(marks, waiting));
  send_on(*s.over, s.channel, [&](schema::StreamMessage::Builder b) {
    auto out = b.initOpen();
    out.setTaskId(id.value);
    out.setIncarnation(s.life.value);
    out.setConsumerId(id_.value);
    out.setReceived(marks.received);
    out.setHandedOut(marks.handed_out);
    out.setCompression(to_schema(options_.packing));
  });
  grant(s, marks, waiting);
  // A smaller window than the others' is to be looked at more often.
  refill(false);
}

void consumer_state::grant(const stream& s, const handout::marks& marks, bool waiting) const {
  auto window = s.credit.now(marks.handed_out);
  // What does not come now is lost with its worker.
  if (s.leaving && options_.max_outstanding == 0)
    window = {marks.handed_out + stream_credit::unbounded, options_.consumer_bytes};
  send_on(*s.over, s.channel, [&](schema::StreamMessage::Builder b) {
    auto out = b.initGrant();
    out.setHandedOut(marks.handed_out);
    out.setReceived(marks.received);
    out.setElements(window.elements);
    out.setBytes(window.bytes);
    out.setWaiting(waiting);
  });
}

void consumer_state::on(const block_arrived& what) {
  auto at = by_channel_.find({what.from.get(), what.what.channel});
  if (at == by_channel_.end())
    return;
  const auto id = at->second;
  auto& s = streams_.at(id);
  s.pause = first_redial_pause;
  const auto in = stream_message::parse(what.what.header);
  if (!in.valid())
    return reject(id, s, in.status());
  switch (in->which()) {
  case schema::StreamMessage::BLOCK: return accept(id, s, what.what, in->getBlock());
  case schema::StreamMessage::RECALL: {
    const auto mark = out_->recall(id, in->getRecall().getKeep());
    send_on(*s.over, s.channel, [&](schema::StreamMessage::Builder b) {
      auto out = b.initRecalled();
      out.setId(in->getRecall().getId());
      out.setMark(mark);
    });
    s.credit.task_forgot();
    return refill(true);
  }
  case schema::StreamMessage::END:
    s.ended = true;
    refill(false);
    return conclude();
  case schema::StreamMessage::LEAVING:
    s.leaving = true;
    return grant(s, out_->of(id), out_->waiting());
  case schema::StreamMessage::FAILED: {
    if (s.ended)
      return;
    const auto why = in->getFailed();
    const auto code = static_cast<status_code>(why.getCode());
    // Gone since its job's last word; the next word will say so, or the lease will.
    if (code == status_code::not_found || code == status_code::aborted) {
      log_.debug("stream refused", {{"task", id}, {"why", std::string{why.getText()}}});
      by_channel_.erase(at);
      links_->close_channel(s.over.get(), s.channel);
      s.over.reset();
      // What is held of a stream that was given up belongs to others by now.
      if (code == status_code::aborted) {
        out_->forget(id);
        s.opened = false;
      }
      return reconnect(id, s);
    }
    return fail(status{code, std::string{why.getText()}}.with_context("worker " + s.address));
  }
  default: log_.debug("unknown stream message", {{"arm", static_cast<uint16_t>(in->which())}});
  }
}

void consumer_state::accept(task_id id, stream& s, const link_message& carrier,
                            schema::StreamBlock::Reader in) {
  // Otherwise the trainer, who gets what is there first, might never come to the failure.
  if (failed_)
    return;
  auto rows = decode_block(in.getBlock(), carrier.payload, options_.spec.components);
  if (!rows)
    return reject(id, s, rows.status());
  const auto received = out_->of(id).received;
  if (in.getFirst() > received)
    return reject(id, s,
                  data_loss(fmt::format("it begins at element {}, but {} were received",
                                        in.getFirst(), received)));
  // Sent again though it had come: drop what we have.
  if (const auto known = received - in.getFirst(); known != 0) {
    if (known >= rows->rows)
      return s.leaving ? grant(s, out_->of(id), out_->waiting()) : void();
    *rows = rows->slice(known, rows->rows - known);
  }
  for (auto& e : rows->errors) e.why = e.why.with_context("worker " + s.address);
  s.credit.make_room(rows->bytes() / std::max<size_t>(rows->rows, 1),
                     options_.consumer_bytes / streams_.size());
  s.credit.task_forgot();
  out_->add(id, *std::move(rows));
  if (s.leaving)
    grant(s, out_->of(id), out_->waiting());
}

void consumer_state::reject(task_id id, stream& s, const status& why) {
  if (failed_)
    return;
  const auto told = data_loss(fmt::format(
    "cannot read what task {:x} of the worker at {} sent: {}; trainer and worker should be of one "
    "version of headrace",
    id.value, s.address, why.message()));
  log_.error("bad stream message", {{"task", id}, {"address", s.address}, {"why", told}});
  s.ended = true;
  fail(told);
}

void consumer_state::drop(stream& s) {
  if (std::exchange(s.lost, true))
    return;
  s.ended = true;
  s.leaving = false;
  if (!s.over)
    return;
  by_channel_.erase({s.over.get(), s.channel});
  links_->close_channel(s.over.get(), s.channel);
  s.over.reset();
}

void consumer_state::on(const link_lost& what) {
  for (auto& [id, s] : streams_) {
    if (s.over != what.lost)
      continue;
    by_channel_.erase({s.over.get(), s.channel});
    s.over.reset();
    if (!s.ended) {
      log_.info("connection to a worker lost", {{"address", s.address}, {"why", what.why}});
      s.unreached = what.why;
      reconnect(id, s);
    }
  }
}

void consumer_state::reconnect(task_id id, stream& s) {
  if (s.ended)
    return;
  port::remind(self_, s.pause, atom::deadline_v, id.value);
  s.pause = std::min<duration>(s.pause * 2, longest_redial_pause);
}

uint64_t consumer_state::quiet_bytes() const {
  auto out = stream_credit::unbounded;
  for (const auto& [id, s] : streams_)
    if (s.over)
      out = std::min(out, s.ended ? 0 : s.credit.quiet_bytes());
  return streams_.empty() ? 0 : out;
}

void consumer_state::refill(bool always) {
  bool waiting = false;
  const auto marks = out_->look(waiting, quiet_bytes());
  for (const auto& [id, m] : marks) {
    auto at = streams_.find(id);
    if (at == streams_.end() || !at->second.over)
      continue;
    auto& s = at->second;
    if (!s.credit.update(progress_of(m, waiting, s.ended), always))
      continue;
    grant(s, m, waiting);
  }
}

} // namespace headrace
