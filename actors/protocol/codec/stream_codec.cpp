#include "headrace/actors/protocol/codec/stream_codec.hpp"

#include "headrace/actors/protocol/block_forms.hpp"
#include "headrace/actors/protocol/codec/task_codec.hpp"
#include "headrace/actors/stream/stream_message.hpp"
#include "headrace/pipeline/codec/block_codec.hpp"
#include "headrace/pipeline/codec/vocabulary_codec.hpp"
#include "headrace/pipeline/types/block_fit.hpp"
#include "headrace/runtime/base/overloaded.hpp"
#include "headrace/schemas/failure_codec.hpp"
#include "headrace/schemas/text.hpp"

#include <fmt/format.h>

namespace headrace::detail {

namespace {

using schema::StreamMessage;

status unknown_arm(const char* from, StreamMessage::Which arm) {
  return unimplemented(
    fmt::format("stream message number {} from a {} is not known to this build; its sender is "
                "newer, or no {}",
                static_cast<uint16_t>(arm), from, from));
}

/// A block of a task, for consumers in the same process, which share its buffers.
class shared_block final : public local_content {
public:
  explicit shared_block(stream_block what) : what(std::move(what)) {}
  size_t byte_size() const noexcept override { return what.rows.bytes(); }

  const stream_block what;
};

template <class Fill>
link_message with_header(uint32_t channel, Fill&& fill, std::vector<buffer> payload = {}) {
  return {channel, stream_message::make(std::forward<Fill>(fill)).bytes(), std::move(payload)};
}

} // namespace

// -- reading ----------------------------------------------------------------------------

result<from_consumer> read_from_consumer(const link_message& in) {
  const auto what = stream_message::parse(in.header);
  if (!what.valid())
    return what.status();
  switch (what->which()) {
  case StreamMessage::OPEN: {
    const auto open = what->getOpen();
    HEADRACE_ASSIGN(auto packing, from_schema(open.getCompression()));
    return from_consumer{
      stream_open{.task = task_id{open.getTaskId()},
                  .life = incarnation{open.getIncarnation()},
                  .consumer = consumer_id{open.getConsumerId()},
                  .received = open.getReceived(),
                  .handed_out = open.getHandedOut(),
                  .packing = packing,
                  .trainer = string_of(open.getTrainerId()),
                  .start = open.getStartsNewest() ? cache_start::newest : cache_start::oldest,
                  .index = open.getConsumerIndex()}};
  }
  case StreamMessage::GRANT: {
    const auto grant = what->getGrant();
    return from_consumer{stream_grant{.handed_out = grant.getHandedOut(),
                                      .elements = grant.getElements(),
                                      .bytes = grant.getBytes(),
                                      .waiting = grant.getWaiting(),
                                      .received = grant.getReceived(),
                                      .claimed = grant.getClaimed(),
                                      .epoch = grant.getEpoch(),
                                      .taken = grant.getTaken()}};
  }
  case StreamMessage::RECALLED:
    return from_consumer{
      stream_recalled{what->getRecalled().getId(), what->getRecalled().getMark()}};
  case StreamMessage::CLOSE: return from_consumer{stream_close{}};
  default: return unknown_arm("consumer", what->which());
  }
}

namespace {

result<from_task> read_shared(const shared_block& near,
                              const std::vector<tensor_spec>& components) {
  HEADRACE_TRY(fits(near.what.rows, components));
  return from_task{near.what};
}

result<from_task> read_from_task(StreamMessage::Reader what, std::span<const buffer> payload,
                                 const std::vector<tensor_spec>& components) {
  switch (what.which()) {
  case StreamMessage::BLOCK: {
    HEADRACE_ASSIGN(auto rows, decode_block(what.getBlock().getBlock(), payload, components));
    return from_task{stream_block{.first = what.getBlock().getFirst(),
                                  .rows = std::move(rows),
                                  .skipped = what.getBlock().getSkipped(),
                                  .claimed = what.getBlock().getClaimed()}};
  }
  case StreamMessage::OPENED: return from_task{stream_opened{}};
  case StreamMessage::RECALL:
    return from_task{stream_recall{what.getRecall().getId(), what.getRecall().getKeep()}};
  case StreamMessage::END: {
    HEADRACE_ASSIGN(auto outcome, from_schema(what.getEnd().getOutcome()));
    return from_task{stream_end{what.getEnd().getElements(), outcome}};
  }
  case StreamMessage::FAILED: return from_task{stream_failed{read_failure(what.getFailed())}};
  case StreamMessage::LEAVING: return from_task{stream_leaving{}};
  case StreamMessage::RECEIVED_BY_ALL: {
    const auto x = what.getReceivedByAll();
    return from_task{stream_received_by_all{x.getEpoch(), x.getElements()}};
  }
  case StreamMessage::CLAIMED: return from_task{stream_claimed{what.getClaimed().getElements()}};
  default: return unknown_arm("task", what.which());
  }
}

} // namespace

result<from_task> read_from_task(const link_message& in,
                                 const std::vector<tensor_spec>& components) {
  if (const auto* near = dynamic_cast<const shared_block*>(in.content.get()))
    return read_shared(*near, components);
  const auto what = stream_message::parse(in.header);
  if (!what.valid())
    return what.status();
  return read_from_task(*what, in.payload, components);
}

result<std::optional<from_task>> read_plain_from_task(const link_message& in,
                                                      const std::vector<tensor_spec>& components) {
  std::optional<from_task> out;
  if (const auto* near = dynamic_cast<const shared_block*>(in.content.get())) {
    HEADRACE_ASSIGN(out, read_shared(*near, components));
    return out;
  }
  const auto what = stream_message::parse(in.header);
  if (!what.valid())
    return what.status();
  if (what->isBlock() && is_compressed(what->getBlock().getBlock()))
    return out;
  HEADRACE_ASSIGN(out, read_from_task(*what, in.payload, components));
  return out;
}

// -- writing ----------------------------------------------------------------------------

link_message write_message(uint32_t channel, const from_consumer& what) {
  return with_header(channel, [&](StreamMessage::Builder b) {
    std::visit(overloaded{
                 [&](const stream_open& x) {
                   auto out = b.initOpen();
                   out.setTaskId(x.task.value);
                   out.setIncarnation(x.life.value);
                   out.setConsumerId(x.consumer.value);
                   out.setReceived(x.received);
                   out.setHandedOut(x.handed_out);
                   out.setCompression(to_schema(x.packing));
                   if (!x.trainer.empty())
                     out.setTrainerId(text_of(x.trainer));
                   out.setStartsNewest(x.start == cache_start::newest);
                   out.setConsumerIndex(x.index);
                 },
                 [&](const stream_grant& x) {
                   auto out = b.initGrant();
                   out.setHandedOut(x.handed_out);
                   out.setElements(x.elements);
                   out.setBytes(x.bytes);
                   out.setWaiting(x.waiting);
                   out.setReceived(x.received);
                   out.setClaimed(x.claimed);
                   out.setEpoch(x.epoch);
                   out.setTaken(x.taken);
                 },
                 [&](const stream_recalled& x) {
                   auto out = b.initRecalled();
                   out.setId(x.id);
                   out.setMark(x.mark);
                 },
                 [&](const stream_close&) { b.setClose(); },
               },
               what);
  });
}

link_message share_block(uint32_t channel, const stream_block& what) {
  return {.channel = channel,
          .header = {},
          .payload = {},
          .content = std::make_shared<const shared_block>(what)};
}

link_message write_block(uint32_t channel, const stream_block& what, bool packed) {
  const auto encoding = packed ? block_encoding::snappy : block_encoding::plain;
  std::vector<buffer> payload;
  std::shared_ptr<const written_block> written;
  if (what.forms) {
    written = what.forms->written(what.rows, encoding);
    payload = written->payload;
  }
  auto header = stream_message::make([&](StreamMessage::Builder b) {
    auto out = b.initBlock();
    out.setFirst(what.first);
    out.setSkipped(what.skipped);
    out.setClaimed(what.claimed);
    if (written)
      out.setBlock(*written->about);
    else
      encode_block(what.rows, encoding, out.initBlock(), payload);
  });
  return {channel, header.bytes(), std::move(payload)};
}

link_message write_message(uint32_t channel, const from_task& what) {
  if (const auto* rows = std::get_if<stream_block>(&what))
    return write_block(channel, *rows, false);
  return with_header(channel, [&](StreamMessage::Builder b) {
    std::visit(overloaded{
                 [](const stream_block&) {},
                 [&](const stream_opened&) { b.setOpened(); },
                 [&](const stream_recall& x) {
                   auto out = b.initRecall();
                   out.setId(x.id);
                   out.setKeep(x.keep);
                 },
                 [&](const stream_end& x) {
                   auto out = b.initEnd();
                   out.setElements(x.elements);
                   out.setOutcome(to_schema(x.outcome));
                 },
                 [&](const stream_failed& x) { write_failure(b.initFailed(), x.why); },
                 [&](const stream_leaving&) { b.setLeaving(); },
                 [&](const stream_received_by_all& x) {
                   auto out = b.initReceivedByAll();
                   out.setEpoch(x.epoch);
                   out.setElements(x.elements);
                 },
                 [&](const stream_claimed& x) { b.initClaimed().setElements(x.elements); },
               },
               what);
  });
}

} // namespace headrace::detail
