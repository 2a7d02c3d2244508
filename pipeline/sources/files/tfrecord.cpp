#include "headrace/pipeline/engine/open.hpp"
#include "headrace/pipeline/files/tfrecord_format.hpp"
#include "headrace/pipeline/graph_codec/node_codec.hpp"
#include "headrace/pipeline/sources/files/file_reader.hpp"
#include "headrace/pipeline/sources/random_access.hpp"

#include <fmt/format.h>

namespace headrace::detail {

namespace {

class tfrecord_reader final : public file_reader {
public:
  using file_reader::file_reader;

protected:
  result<bool> append_rows(byte_window& from, const std::string& path, string_rows& to) override {
    while (!to.full()) {
      HEADRACE_ASSIGN(const bool starts, have(from, tfrecord_header));
      if (!starts) {
        if (from.bytes().empty())
          return false;
        return truncated(from, path, "length");
      }
      const auto length = tfrecord_length(from.bytes().data());
      if (!length || *length > SIZE_MAX / 4)
        return corrupt(from, path, "length");
      const auto size = *length;
      HEADRACE_ASSIGN(const bool whole, have(from, tfrecord_header + size + tfrecord_footer));
      if (!whole)
        return truncated(from, path, "data");
      const auto* data = from.bytes().data() + tfrecord_header;
      if (!tfrecord_matches(data, size, data + size))
        return corrupt(from, path, "data");
      to.append(data, size);
      from.use(tfrecord_header + size + tfrecord_footer);
    }
    return true;
  }

private:
  static result<bool> have(byte_window& from, size_t size) {
    while (from.bytes().size() < size) {
      HEADRACE_ASSIGN(const bool more, from.more());
      if (!more)
        return false;
    }
    return true;
  }

  status truncated(const byte_window& from, const std::string& path, const char* part) const {
    return data_loss(fmt::format("'{}' ends in the middle of the {} of the record at {} {}", path,
                                 part, offset(), from.offset()));
  }
  status corrupt(const byte_window& from, const std::string& path, const char* part) const {
    return data_loss(fmt::format("'{}': the {} of the record at {} {} does not match its checksum",
                                 path, part, offset(), from.offset()));
  }
  const char* offset() const {
    return compression_of_files(node_) == file_compression::none ? "offset" : "unpacked offset";
  }
};

opened open_tfrecord(engine& shared, const dataset_ptr& node, const place& at) {
  HEADRACE_ASSIGN(auto values, shared.arguments(node, at));
  return std::unique_ptr<iterator>{
    std::make_unique<tfrecord_reader>(shared, *node, at, std::move(values[0]))};
}

void encode_tfrecord(const dataset_node&, node_writer& to) { to.files(to.out.initTfrecord()); }

result<dataset_ptr> decode_tfrecord(node_reader& from) {
  const auto in = from.in.getTfrecord();
  HEADRACE_ASSIGN(auto names, from.tensor(in.getNames()));
  HEADRACE_ASSIGN(const auto packing, from.compression_of(dataset_op::tfrecord, in));
  return make_tfrecord(std::move(names), packing);
}

result<std::unique_ptr<random_access>> open_any_tfrecord(engine& shared, const dataset_ptr& node,
                                                         const place& at) {
  HEADRACE_ASSIGN(const auto values, shared.arguments(node, at));
  return open_indexed_tfrecords(*node, values[0]);
}

} // namespace

constinit const operator_record tfrecord_record{
  .name = "tfrecord",
  .arm = schema::Dataset::TFRECORD,
  .encode = encode_tfrecord,
  .decode = decode_tfrecord,
  .open = open_tfrecord,
  .position_version = 2,
  .rows = source_rows,
  .source = {.files = file_use::named,
             .splits = splits_of_files,
             .open_any_order = open_any_tfrecord},
};

} // namespace headrace::detail
