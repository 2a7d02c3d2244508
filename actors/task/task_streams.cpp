#include "headrace/actors/stream/stream_message.hpp"
#include "headrace/actors/task/task_actor.hpp"
#include "headrace/pipeline/codec/block_codec.hpp"
#include "headrace/pipeline/codec/block_sample.hpp"
#include "headrace/pipeline/graph/build.hpp"
#include "headrace/runtime/base/boot_id.hpp"

#include <fmt/format.h>

namespace headrace {

// The streams to consumers: what arrives on them, and what is sent.

namespace {

/// What a consumer wants; one that leaves it to the workers gets what the dataset says.
compression asked_compression(schema::Compression x, const dataset_node& graph) {
  switch (x) {
  case schema::Compression::AUTO: {
    const auto said = options_of(graph).compression;
    return !said               ? compression::automatic
           : *said == "snappy" ? compression::snappy
                               : compression::none;
  }
  case schema::Compression::SNAPPY: return compression::snappy;
  default: return compression::none; // what we do not know, we do not use
  }
}

} // namespace

void task_state::on(const stream_arrived& from) {
  const auto in = stream_message::parse(from.what.header);
  if (!in.valid()) {
    log_.warn("bad stream message", {{"peer", from.from->peer_address()}, {"why", in.status()}});
    return from.from->close(in.status());
  }
  if (in->which() == schema::StreamMessage::OPEN)
    return open(from, in->getOpen());
  auto at = by_channel_.find({from.from.get(), from.what.channel});
  if (at == by_channel_.end())
    return;
  const auto who = at->second;
  switch (in->which()) {
  case schema::StreamMessage::GRANT: {
    const auto grant = in->getGrant();
    memory_->change([&] {
      memory_->output.grant(who, grant.getHandedOut(), grant.getElements(), grant.getBytes(),
                            grant.getWaiting());
      memory_->output.received(who, grant.getReceived());
    });
    break;
  }
  case schema::StreamMessage::RECALLED:
    memory_->change([&] {
      memory_->output.recalled(who, in->getRecalled().getId(), in->getRecalled().getMark());
    });
    break;
  case schema::StreamMessage::CLOSE: leave(who); break;
  default:
    log_.debug("unknown stream message", {{"arm", static_cast<uint16_t>(in->which())}});
    return;
  }
  deal();
}

void task_state::open(const stream_arrived& from, schema::Open::Reader wanted) {
  const consumer_id who{wanted.getConsumerId()};
  if (incarnation{wanted.getIncarnation()} != about_.life)
    return void(send_failure(
      *from.from, from.what.channel,
      aborted(fmt::format("task {} is now in its life {}", about_.id.value, about_.life.value))));
  auto& routes = memory_->routes;
  const bool again = routes.contains(who);
  if (!again && wanted.getReceived() != 0)
    return void(send_failure(*from.from, from.what.channel,
                             aborted("this stream was given up while its consumer was away")));
  if (again)
    by_channel_.erase({routes[who].over.get(), routes[who].channel});
  routes[who] = {from.from,
                 from.what.channel,
                 compression_choice{asked_compression(wanted.getCompression(), *about_.graph),
                                    from.from->peer_boot_id() == boot_id()},
                 {}};
  by_channel_[{from.from.get(), from.what.channel}] = who;
  memory_->change([&] { memory_->output.open(who, wanted.getReceived(), wanted.getHandedOut()); });
  memory_->numbers.streams = static_cast<uint32_t>(routes.size());
  if (memory_->leaving)
    send_on(*from.from, from.what.channel,
            [](schema::StreamMessage::Builder b) { b.setLeaving(); });
  else if (!memory_->opened)
    start_runner();
  deal();
}

void task_state::on(const stream_cut& what) {
  for (auto& [who, route] : memory_->routes) {
    if (route.over != what.from)
      continue;
    by_channel_.erase({what.from.get(), route.channel});
    route.over.reset();
    route.gone_at = now() + options_.consumer_lease;
    memory_->change([&, who = who] { memory_->output.cut(who); });
  }
  arm();
}

void task_state::leave(consumer_id who) {
  auto& routes = memory_->routes;
  auto at = routes.find(who);
  if (at == routes.end())
    return;
  if (at->second.over)
    by_channel_.erase({at->second.over.get(), at->second.channel});
  routes.erase(at);
  memory_->change([&] { memory_->output.leave(who); });
  memory_->numbers.streams = static_cast<uint32_t>(routes.size());
}

void task_state::send(const task_output::send_block& what) {
  if (ended_)
    return;
  auto& route = memory_->routes.at(what.to);
  std::vector<buffer> payload;
  const auto header = stream_message::make([&](schema::StreamMessage::Builder b) {
    auto out = b.initBlock();
    out.setFirst(what.first);
    const bool packs =
      route.packing.next(what.rows.bytes(), [&] { return sampled_share(what.rows); });
    encode_block(what.rows, packs ? block_encoding::snappy : block_encoding::plain, out.initBlock(),
                 payload);
  });
  link_message carrier{route.channel, header.bytes(), std::move(payload)};
  const auto fits = route.over->limits().check(carrier);
  if (fits)
    return void(route.over->send(std::move(carrier)));
  if (const auto half = what.rows.rows / 2; half != 0) {
    send(task_output::send_block{what.to, what.first, what.rows.slice(0, half)});
    return send(task_output::send_block{what.to, what.first + half,
                                        what.rows.slice(half, what.rows.rows - half)});
  }
  fail(resource_exhausted(
    fmt::format("an element of {} bytes cannot be sent: {}; make elements of fewer or smaller "
                "components",
                carrier.byte_size(), fits.message())));
}

void task_state::send(const task_output::send_recall& what) {
  auto& route = memory_->routes.at(what.to);
  send_on(*route.over, route.channel, [&](schema::StreamMessage::Builder b) {
    auto out = b.initRecall();
    out.setId(what.id);
    out.setKeep(what.keep);
  });
}

void task_state::send(const task_output::send_end& what) {
  auto& route = memory_->routes.at(what.to);
  send_on(*route.over, route.channel,
          [&](schema::StreamMessage::Builder b) { b.setEnd(what.elements); });
}

} // namespace headrace
