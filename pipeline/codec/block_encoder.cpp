#include "headrace/pipeline/codec/block_codec.hpp"
#include "headrace/pipeline/codec/origin_record.hpp"
#include "headrace/schemas/failure_codec.hpp"
#include "headrace/schemas/text.hpp"

#include <capnp/message.h>
#include <capnp/serialize.h>
#include <limits>
#include <snappy.h>

namespace headrace::detail {

namespace {

using part_builder = schema::Part::Builder;

// A segment needs an allocation and an entry in the frame; copying fewer bytes than this takes less
// time.
constexpr size_t most_inline = 128;
class encoder {
public:
  encoder(block_encoding encoding, std::vector<buffer>& segments)
    : encoding_(encoding), segments_(segments) {}

  void put(part_builder out, const buffer& bytes) {
    out.setBytes(bytes.size());
    out.setEncoding(schema::Part::Encoding::NONE);
    if (bytes.size() <= most_inline) {
      out.setInline(data_of(bytes));
      return;
    }
    out.setSegment(static_cast<uint32_t>(segments_.size()));
    if (encoding_ == block_encoding::snappy
        && bytes.size() < std::numeric_limits<uint32_t>::max()) {
      if (auto packed = compress(bytes); packed.size() < bytes.size()) {
        out.setEncoding(schema::Part::Encoding::SNAPPY);
        segments_.push_back(std::move(packed));
        return;
      }
    }
    segments_.push_back(bytes);
  }

  void put(schema::Column::Builder out, const column& c) {
    out.setDtype(static_cast<uint8_t>(c.type()));
    const auto values = static_cast<size_t>(c.total_values());
    if (c.is_string()) {
      const auto borders = c.border_buffer().slice(0, (values + 1) * sizeof(int64_t));
      auto ends = borders.as<int64_t>();
      put(out.initBorders(), borders);
      put(out.initValues(), c.value_buffer().slice(static_cast<size_t>(ends[0] - c.byte_base()),
                                                   static_cast<size_t>(ends[values] - ends[0])));
      out.setByteBase(ends[0]);
    } else {
      put(out.initValues(), c.value_buffer().slice(0, values * size_of(c.type())));
    }
    if (c.is_dense() || c.rank() == 0) {
      auto dims = out.initDense(static_cast<unsigned>(c.rank()));
      for (unsigned i = 0; i < dims.size(); ++i)
        dims.set(i, static_cast<uint64_t>(c.row_shape()[i])); // for rank 0 there are none
      return;
    }
    auto variable = out.initVariable();
    variable.setRank(static_cast<uint16_t>(c.rank()));
    put(variable.initDims(), c.row_dim_buffer().slice(0, c.rows() * c.rank() * sizeof(int64_t)));
  }

private:
  static buffer compress(const buffer& bytes) {
    mutable_buffer out{snappy::MaxCompressedLength(bytes.size())};
    size_t size = 0;
    snappy::RawCompress(reinterpret_cast<const char*>(bytes.data()), bytes.size(),
                        reinterpret_cast<char*>(out.data()), &size);
    return std::move(out).freeze(size);
  }

  block_encoding encoding_;
  std::vector<buffer>& segments_;
};

buffer errors_message(const std::vector<row_error>& errors) {
  ::capnp::MallocMessageBuilder message;
  auto list = message.initRoot<schema::RowErrors>().initList(static_cast<unsigned>(errors.size()));
  for (unsigned i = 0; i < list.size(); ++i) {
    list[i].setRow(errors[i].row);
    write_failure(list[i], errors[i].why);
    list[i].setEndsRun(errors[i].why.ends_run());
  }
  auto words = ::capnp::messageToFlatArray(message);
  return buffer::copy_of(words.begin(), words.size() * sizeof(::capnp::word));
}

buffer origin_records(const std::vector<origin>& origins) {
  mutable_buffer out{origins.size() * sizeof(origin_record)};
  auto to = out.as<origin_record>();
  for (size_t i = 0; i < origins.size(); ++i)
    to[i] = {origins[i].rows, origins[i].source, origins[i].pass, origins[i].split,
             origins[i].step};
  return std::move(out).freeze();
}

} // namespace

void encode_block(const block& rows, block_encoding encoding, schema::Block::Builder out,
                  std::vector<buffer>& segments) {
  encoder to{encoding, segments};
  out.setRows(static_cast<uint32_t>(rows.rows));
  auto columns = out.initColumns(static_cast<unsigned>(rows.columns.size()));
  for (unsigned i = 0; i < columns.size(); ++i) to.put(columns[i], rows.columns[i]);
  to.put(out.initErrors(), rows.errors.empty() ? buffer{} : errors_message(rows.errors));
  to.put(out.initOrigins(), origin_records(rows.origins));
}

} // namespace headrace::detail
