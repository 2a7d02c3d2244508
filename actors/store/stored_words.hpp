#pragma once

/// Functions for the codecs of records.

#include "headrace/pipeline/codec/canonical_message.hpp"
#include "headrace/runtime/base/buffer.hpp"
#include "headrace/runtime/base/result.hpp"

#include <capnp/message.h>
#include <fmt/format.h>

#include <cassert>
#include <string_view>
#include <utility>

namespace headrace::detail {

/// Returns the words of a new message, which `fill(builder)` fills and which has one segment.
/// `read_words` can read every message that this function makes.
template <class Schema, class Fill>
buffer write_words(Fill&& fill) {
  // `room` is large enough for a few facts, so that the result is then the only allocation.
  ::capnp::word room[128] = {};
  ::capnp::MallocMessageBuilder message{kj::arrayPtr(room, std::size(room))};
  std::forward<Fill>(fill)(message.template initRoot<Schema>());
  const auto segments = message.getSegmentsForOutput();
  if (segments.size() == 1)
    return buffer::copy_of(segments[0].begin(), segments[0].size() * sizeof(::capnp::word));
  // The canonical form is not used, because it omits zeros at the end of structs: a list of structs
  // with only zeros would take no words, and a reader of such a list would exceed its traversal
  // limit, which follows from the number of words.
  const auto root = message.template getRoot<Schema>().asReader();
  ::capnp::MallocMessageBuilder whole{static_cast<unsigned>(root.totalSize().wordCount + 1)};
  whole.setRoot(root);
  const auto words = whole.getSegmentsForOutput();
  assert(words.size() == 1);
  return buffer::copy_of(words[0].begin(), words[0].size() * sizeof(::capnp::word));
}

/// Calls `read(reader)` with the message. Returns data_loss if the words are not a valid message,
/// or if `read` reads more than they contain.
template <class Schema, class Read>
auto read_words(const buffer& words, std::string_view what, Read&& read)
  -> decltype(read(typename Schema::Reader{})) {
  auto out = read_message<Schema>(words, std::forward<Read>(read));
  if (!out)
    return out.status().with_context(what);
  return out;
}

/// The error for a member of a union, or a value, that this build does not define.
inline status unknown_stored(std::string_view what, unsigned number) {
  return unimplemented(
    fmt::format("{} number {} is not known to this build; a newer one, which wrote it, can read it",
                what, number));
}

/// The number of elements, in the type that Cap'n Proto uses for lengths of lists.
template <class Range>
unsigned list_size(const Range& all) {
  return static_cast<unsigned>(all.size());
}

} // namespace headrace::detail
