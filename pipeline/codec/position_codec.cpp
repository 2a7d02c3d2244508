#include "headrace/pipeline/codec/position_codec.hpp"

#include "headrace/pipeline/codec/canonical_message.hpp"
#include "headrace/runtime/base/crc32c.hpp"
#include "headrace/schemas/text.hpp"

#include <headrace/schemas/position.capnp.h>
#include <unordered_map>
#include <unordered_set>
#include <zlib.h>

namespace headrace::detail {

namespace {

constexpr uint16_t plain_version = 1, packed_version = 2;
// Smaller bodies are not compressed.
constexpr size_t small_body = 4096;
// The most bytes of a decompressed record.
constexpr size_t most_body = size_t{64} << 20;
// The most bytes of a record in addition to its body.
constexpr size_t room_for_the_rest = 256;
// The deepest nesting of positions. It is bounded because iterators read them recursively.
constexpr size_t most_depth = 1024;

/// Lists a position and all those below it, each once, so that parts come before the positions that
/// use them.
class position_writer {
public:
  // Operators may be running. The choices of an operator's inputs are read after its own, and so
  // up to a later time: they cover all rows to which the operator's choices refer.
  status visit(const position& x) {
    HEADRACE_TRY(x.refused);
    if (numbers_.contains(&x))
      return {};
    auto later = x.later ? logs_.after(*x.later) : choice_log::choices{};
    if (later.incomplete)
      return resource_exhausted(fmt::format("the position would have all that {} did since an "
                                            "element that is still held came, which is "
                                            "too much: it needs deterministic=True, so that the "
                                            "order of its elements need not be saved",
                                            to_string(x.op)));
    for (const auto* parts : {&x.parts, &std::as_const(later).opened})
      for (const auto& part : *parts)
        if (part)
          HEADRACE_TRY(visit(*part));
    numbers_.emplace(&x, static_cast<uint32_t>(all_.size() + 1));
    all_.emplace_back(&x, std::move(later));
    return {};
  }

  void write(schema::SavedIteration::Builder out) const {
    auto list = out.initPositions(static_cast<unsigned>(all_.size()));
    for (unsigned i = 0; i < list.size(); ++i) write(*all_[i].first, all_[i].second, list[i]);
  }

private:
  void write(const position& x, const choice_log::choices& later,
             schema::Position::Builder out) const {
    out.setOp(static_cast<uint16_t>(x.op));
    out.setVersion(x.version);
    out.setEnded(x.ended);
    auto numbers = out.initNumbers(static_cast<unsigned>(x.numbers.size() + later.numbers.size()));
    unsigned i = 0;
    for (const auto* from : {&x.numbers, &later.numbers})
      for (auto number : *from) numbers.set(i++, number);
    auto parts = out.initParts(static_cast<unsigned>(x.parts.size() + later.opened.size()));
    i = 0;
    for (const auto* from : {&x.parts, &later.opened})
      for (const auto& part : *from) parts.set(i++, part ? numbers_.at(part.get()) : 0);
  }

  std::vector<std::pair<const position*, choice_log::choices>> all_;
  std::unordered_map<const position*, uint32_t> numbers_;
  choice_log::reader logs_;
};

result<position_ptr> read_positions(::capnp::List<schema::Position>::Reader in) {
  struct made {
    position_ptr value;
    size_t depth = 0;
  };
  std::vector<made> all;
  for (auto from : in) {
    auto x = std::make_shared<position>();
    size_t depth = 0;
    x->op = static_cast<dataset_op>(from.getOp());
    x->version = from.getVersion();
    x->ended = from.getEnded();
    for (auto number : from.getNumbers()) x->numbers.push_back(number);
    for (auto part : from.getParts()) {
      if (part > all.size())
        return data_loss("a part comes after its user");
      x->parts.push_back(part == 0 ? nullptr : all[part - 1].value);
      depth = std::max(depth, part == 0 ? 0 : all[part - 1].depth + 1);
    }
    if (depth > most_depth)
      return data_loss("positions are nested too deep");
    all.push_back({std::move(x), depth});
  }
  if (all.empty())
    return data_loss("there is none");
  return all.back().value;
}

result<saved_iteration> read_body(const buffer& body) {
  return read_message<schema::SavedIteration>(
    body, [](schema::SavedIteration::Reader in) -> result<saved_iteration> {
      saved_iteration out{
        .graph = string_of(in.getGraph()), .seed = in.getSeed(), .repetition = in.getRepetition()};
      out.point.skip = in.getSkip();
      HEADRACE_ASSIGN(out.point.at, read_positions(in.getPositions()));
      return out;
    });
}

result<buffer> packed(const buffer& body, int level) {
  auto size = compressBound(body.size());
  mutable_buffer out{size};
  if (compress2(reinterpret_cast<Bytef*>(out.data()), &size,
                reinterpret_cast<const Bytef*>(body.data()), body.size(), level)
      != Z_OK)
    return resource_exhausted("out of memory");
  return std::move(out).freeze(size);
}

result<buffer> unpacked(const buffer& from, size_t size) {
  if (size > most_body)
    return data_loss(fmt::format("it announces {} bytes; {} are allowed", size, most_body));
  auto got = static_cast<uLongf>(size);
  mutable_buffer out{size};
  if (uncompress(reinterpret_cast<Bytef*>(out.data()), &got,
                 reinterpret_cast<const Bytef*>(from.data()), from.size())
        != Z_OK
      || got != size)
    return data_loss(fmt::format("it does not unpack to {} bytes", size));
  return std::move(out).freeze();
}

choice_log::choices later_than(const position& x) {
  return x.later ? choice_log::reader{}.after(*x.later) : choice_log::choices{};
}

/// The approximate bytes of a position and of all below it; a shared position counts once.
size_t bytes_below(const position& x, std::unordered_set<const position*>& seen) {
  if (!seen.insert(&x).second)
    return 0;
  const auto later = later_than(x);
  auto out = 48 + (x.numbers.size() + later.numbers.size()) * sizeof(uint64_t)
             + (x.parts.size() + later.opened.size()) * sizeof(uint32_t);
  for (const auto* parts : {&x.parts, &later.opened})
    for (const auto& part : *parts)
      if (part)
        out += bytes_below(*part, seen);
  return out;
}
size_t bytes_below(const position& x) {
  std::unordered_set<const position*> seen;
  return bytes_below(x, seen);
}

/// The position of the operator that takes most of the bytes: the lowest position that, together
/// with all positions below it, has more than half of the bytes of `whole`.
const position& largest(const position& whole) {
  const auto half = bytes_below(whole) / 2;
  const auto* at = &whole;
  for (bool goes_on = true; goes_on;) {
    goes_on = false;
    for (const auto& part : at->parts)
      if (part && bytes_below(*part) > half) {
        at = part.get();
        goes_on = true;
        break;
      }
  }
  return *at;
}

} // namespace

result<buffer> encode_iteration(const saved_iteration& x) {
  position_writer positions;
  HEADRACE_TRY(positions.visit(*x.point.at));
  ::capnp::MallocMessageBuilder body;
  auto out = body.initRoot<schema::SavedIteration>();
  out.setGraph(text_of(x.graph));
  out.setSeed(x.seed);
  out.setRepetition(x.repetition);
  out.setSkip(x.point.skip);
  positions.write(out);
  auto bytes = canonical_bytes<schema::SavedIteration>(body);
  const auto size = bytes.size();
  const bool packs = size >= small_body && size <= most_body;
  if (packs) {
    const auto plain = bytes;
    HEADRACE_ASSIGN(bytes, packed(plain, Z_BEST_SPEED));
    if (bytes.size() + room_for_the_rest > most_record_bytes) {
      HEADRACE_ASSIGN(bytes, packed(plain, Z_BEST_COMPRESSION));
    }
  }
  if (bytes.size() + room_for_the_rest > most_record_bytes) {
    const auto& most = largest(*x.point.at);
    return resource_exhausted(fmt::format(
      "the position takes {} bytes; a record may have {}. Most of that is what {} keeps: it needs "
      "{}",
      bytes.size(), most_record_bytes, to_string(most.op),
      most.later ? "deterministic=True, so that the order of its elements need not be saved"
                 : "a smaller state, or fewer datasets or groups open at a time"));
  }
  ::capnp::MallocMessageBuilder whole;
  auto record = whole.initRoot<schema::PositionRecord>();
  record.setVersion(packs ? packed_version : plain_version);
  if (packs)
    record.setSize(static_cast<uint32_t>(size));
  record.setChecksum(crc32c(bytes.data(), bytes.size()));
  record.setBody(data_of(bytes));
  return canonical_bytes<schema::PositionRecord>(whole);
}

result<saved_iteration> decode_iteration(const buffer& record) {
  auto out = read_message<schema::PositionRecord>(
    record, [](schema::PositionRecord::Reader in) -> result<saved_iteration> {
      if (in.getVersion() != plain_version && in.getVersion() != packed_version)
        return failed_precondition(
          fmt::format("it is of version {}, and this build reads versions {} and {}",
                      in.getVersion(), plain_version, packed_version));
      const auto body = bytes_of(in.getBody());
      if (crc32c(body.data(), body.size()) != in.getChecksum())
        return data_loss("it does not match its checksum");
      if (in.getVersion() == plain_version)
        return read_body(body);
      HEADRACE_ASSIGN(const auto whole, unpacked(body, in.getSize()));
      return read_body(whole);
    });
  if (!out)
    return out.status().with_context("saved position");
  return out;
}

result<saved_iteration> decode_iteration(const buffer& record, const std::string& graph) {
  HEADRACE_ASSIGN(auto out, decode_iteration(record));
  if (out.graph != graph)
    return failed_precondition(
      fmt::format("saved position: it belongs to another dataset, of fingerprint {}; this one's is "
                  "{}. Build the dataset as it was when the position was saved, files and seeds "
                  "included",
                  out.graph.substr(0, 12), graph.substr(0, 12)));
  return out;
}

} // namespace headrace::detail
