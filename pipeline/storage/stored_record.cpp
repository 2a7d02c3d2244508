#include "headrace/pipeline/storage/stored_record.hpp"

#include "headrace/pipeline/codec/block_codec.hpp"
#include "headrace/pipeline/files/tfrecord_format.hpp"

#include <capnp/message.h>
#include <capnp/serialize.h>
#include <fmt/format.h>
#include <headrace/schemas/saved.capnp.h>
#include <kj/exception.h>
#include <zlib.h>

namespace headrace::detail {

namespace {

constexpr size_t most_record = size_t{1} << 40;
constexpr size_t aligned(size_t n) {
  return (n + buffer_alignment - 1) / buffer_alignment * buffer_alignment;
}

/// The record is compressed as a stream, because the size in zlib's one-shot calls may have only 32
/// bits.
buffer gzip(const buffer& bytes) {
  constexpr int window_bits = 15, as_gzip = 16, memory_level = 8;
  z_stream state{};
  if (deflateInit2(&state, Z_DEFAULT_COMPRESSION, Z_DEFLATED, window_bits + as_gzip, memory_level,
                   Z_DEFAULT_STRATEGY)
      != Z_OK)
    throw std::bad_alloc{};
  const std::unique_ptr<z_stream, int (*)(z_stream*)> ends{&state, deflateEnd};
  buffer_builder out;
  constexpr size_t step = size_t{256} << 10;
  for (size_t at = 0, done = 0; done == 0;) {
    if (state.avail_in == 0) {
      const auto part = std::min<size_t>(bytes.size() - at, size_t{1} << 30);
      state.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(bytes.data() + at));
      state.avail_in = static_cast<uInt>(part);
      at += part;
    }
    const auto size = out.size();
    state.next_out = reinterpret_cast<Bytef*>(out.extend(step));
    state.avail_out = static_cast<uInt>(step);
    done = deflate(&state, at == bytes.size() ? Z_FINISH : Z_NO_FLUSH) == Z_STREAM_END;
    out.truncate(size + step - state.avail_out);
  }
  return out.finish();
}

result<buffer> gunzip(const buffer& packed) {
  constexpr int window_bits = 15, as_gzip = 16;
  z_stream state{};
  if (inflateInit2(&state, window_bits + as_gzip) != Z_OK)
    throw std::bad_alloc{};
  const std::unique_ptr<z_stream, int (*)(z_stream*)> ends{&state, inflateEnd};
  buffer_builder out;
  constexpr size_t step = size_t{256} << 10;
  for (size_t at = 0;;) {
    if (state.avail_in == 0) {
      const auto part = std::min<size_t>(packed.size() - at, size_t{1} << 30);
      state.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(packed.data() + at));
      state.avail_in = static_cast<uInt>(part);
      at += part;
    }
    const auto size = out.size();
    state.next_out = reinterpret_cast<Bytef*>(out.extend(step));
    state.avail_out = static_cast<uInt>(step);
    const int how = inflate(&state, Z_NO_FLUSH);
    out.truncate(size + step - state.avail_out);
    if (how == Z_STREAM_END)
      return out.finish();
    if (how != Z_OK || (state.avail_in == 0 && at == packed.size()))
      return data_loss("it is no whole gzip data");
  }
}

} // namespace

result<buffer> read_stored_record(const random_file& from, uint64_t offset, uint64_t end) {
  const auto truncated = [&] {
    return data_loss(
      fmt::format("'{}' ends in the middle of the record at offset {}", from.path(), offset));
  };
  const auto corrupt = [&] {
    return data_loss(fmt::format("'{}': the record at offset {} does not match its checksum",
                                 from.path(), offset));
  };
  if (offset > end || end - offset < tfrecord_header + tfrecord_footer)
    return truncated();
  std::byte header[tfrecord_header];
  HEADRACE_TRY(from.read(offset, header));
  const auto length = tfrecord_length(header);
  if (!length)
    return corrupt();
  if (*length > end - offset - tfrecord_header - tfrecord_footer || *length > most_record)
    return truncated();
  mutable_buffer out{*length + tfrecord_footer};
  HEADRACE_TRY(from.read(offset + tfrecord_header, {out.data(), out.size()}));
  if (!tfrecord_matches(out.data(), *length, out.data() + *length))
    return corrupt();
  return std::move(out).freeze(*length);
}

buffer encode_rows(const block& rows, saved_compression compression) {
  ::capnp::MallocMessageBuilder message;
  auto out = message.initRoot<schema::SavedRows>();
  std::vector<buffer> segments;
  block bare{rows.columns, rows.rows, {}, {}};
  encode_block(
    bare, compression == saved_compression::snappy ? block_encoding::snappy : block_encoding::plain,
    out.initBlock(), segments);
  auto sizes = out.initSegments(static_cast<unsigned>(segments.size()));
  for (unsigned i = 0; i < sizes.size(); ++i) sizes.set(i, segments[i].size());
  const auto words = ::capnp::messageToFlatArray(message);
  const auto head = words.asBytes();
  size_t total = head.size();
  for (const auto& one : segments) total = aligned(total) + one.size();
  mutable_buffer bytes{total};
  std::memcpy(bytes.data(), head.begin(), head.size());
  size_t at = head.size();
  for (const auto& one : segments) {
    std::memset(bytes.data() + at, 0, aligned(at) - at);
    at = aligned(at);
    if (!one.empty())
      std::memcpy(bytes.data() + at, one.data(), one.size());
    at += one.size();
  }
  auto plain = std::move(bytes).freeze();
  return compression == saved_compression::gzip ? gzip(plain) : plain;
}

result<block> decode_rows(const buffer& record, saved_compression compression,
                          const element_spec& spec) {
  auto bytes = record;
  if (compression == saved_compression::gzip) {
    HEADRACE_ASSIGN(bytes, gunzip(record));
  }
  try {
    ::capnp::ReaderOptions options;
    options.traversalLimitInWords = bytes.size() / sizeof(::capnp::word) * 8 + 1024;
    const kj::ArrayPtr<const ::capnp::word> words{
      reinterpret_cast<const ::capnp::word*>(bytes.data()), bytes.size() / sizeof(::capnp::word)};
    ::capnp::FlatArrayMessageReader message{words, options};
    auto in = message.getRoot<schema::SavedRows>();
    auto at =
      static_cast<size_t>(reinterpret_cast<const std::byte*>(message.getEnd()) - bytes.data());
    std::vector<buffer> segments;
    for (uint64_t size : in.getSegments()) {
      at = aligned(at);
      if (at > bytes.size() || size > bytes.size() - at)
        return data_loss("its columns are longer than it is");
      segments.push_back(bytes.slice(at, size));
      at += size;
    }
    return decode_block(in.getBlock(), segments, spec.components);
  } catch (const kj::Exception& e) {
    return data_loss(fmt::format("no whole message: {}", e.getDescription().cStr()));
  }
}

} // namespace headrace::detail
