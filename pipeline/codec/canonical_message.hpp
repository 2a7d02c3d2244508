#pragma once

#include "headrace/runtime/base/buffer.hpp"
#include "headrace/runtime/base/result.hpp"

#include <capnp/any.h>
#include <capnp/message.h>
#include <capnp/serialize.h>
#include <fmt/format.h>
#include <kj/exception.h>

/// Writes and reads messages as the bytes of their canonical form, in one segment: messages with
/// equal content have equal bytes.
namespace headrace::detail {

template <class Schema>
buffer canonical_bytes(::capnp::MallocMessageBuilder& message) {
  auto words = ::capnp::canonicalize(message.getRoot<Schema>().asReader());
  return buffer::copy_of(words.begin(), words.size() * sizeof(::capnp::word));
}

/// Returns `read(root)` for a message of one segment; `data_loss` for damaged bytes.
template <class Schema, class Read>
auto read_message(const buffer& encoded, Read read) -> decltype(read(typename Schema::Reader{})) {
  if (encoded.empty() || encoded.size() % sizeof(::capnp::word) != 0)
    return data_loss(fmt::format("{} bytes are no message: it comes in words of {}", encoded.size(),
                                 sizeof(::capnp::word)));
  auto bytes = encoded;
  if (reinterpret_cast<uintptr_t>(bytes.data()) % sizeof(::capnp::word) != 0)
    bytes = buffer::copy_of(bytes.data(), bytes.size());
  const kj::ArrayPtr<const ::capnp::word> segments[] = {
    {reinterpret_cast<const ::capnp::word*>(bytes.data()), bytes.size() / sizeof(::capnp::word)}};
  ::capnp::ReaderOptions options;
  // The limit counts words again each time they are read. Most are read at most a few times; the
  // constant is for lists that are read again for each entry, such as the functions of a graph.
  options.traversalLimitInWords = segments[0].size() * 8 + (uint64_t{1} << 20);
  options.nestingLimit = 64;
  try {
    ::capnp::SegmentArrayMessageReader message{kj::arrayPtr(segments, 1), options};
    return read(message.template getRoot<Schema>());
  } catch (const kj::Exception& e) {
    return data_loss(fmt::format("no whole message: {}", e.getDescription().cStr()));
  }
}

} // namespace headrace::detail
