#include "headrace/pipeline/codec/block_codec.hpp"
#include "headrace/pipeline/codec/origin_record.hpp"
#include "headrace/schemas/failure_codec.hpp"

#include <algorithm>
#include <capnp/message.h>
#include <capnp/serialize.h>
#include <fmt/format.h>
#include <kj/exception.h>
#include <limits>
#include <snappy.h>

namespace headrace::detail {

namespace {

using part_reader = schema::Part::Reader;

constexpr size_t word = sizeof(int64_t);
constexpr size_t most_dims = 64;

class decoder {
public:
  decoder(std::span<const buffer> segments, size_t most_bytes)
    : segments_(segments), budget_(most_bytes) {}

  static constexpr size_t any_size = std::numeric_limits<size_t>::max();
  /// The decoded bytes of a part, aligned for any value. `data_loss` if their number is not `size`;
  /// `any_size`: every number is allowed. `what` names the part in errors.
  result<buffer> get(part_reader in, size_t size, std::string_view what) {
    const auto announced = in.getBytes();
    if (size != any_size && announced != size)
      return data_loss(fmt::format("{} are {} bytes, expected {}", what, announced, size));
    buffer raw;
    if (in.isInline()) {
      auto data = in.getInline();
      if (in.getEncoding() != schema::Part::Encoding::NONE)
        return data_loss(fmt::format("{} are inline and encoded", what));
      raw = buffer::copy_of(data.begin(), data.size());
    } else if (in.isSegment()) {
      if (in.getSegment() >= segments_.size())
        return data_loss(
          fmt::format("{} are in segment {} of {}", what, in.getSegment(), segments_.size()));
      raw = segments_[in.getSegment()];
    } else {
      return data_loss(fmt::format("{} are in a place this build does not know", what));
    }
    switch (in.getEncoding()) {
    case schema::Part::Encoding::NONE: break;
    case schema::Part::Encoding::SNAPPY: {
      HEADRACE_ASSIGN(raw, decompress(raw, announced, what));
      break;
    }
    default:
      return data_loss(fmt::format("{} are encoded in a way this build does not know", what));
    }
    if (raw.size() != announced)
      return data_loss(
        fmt::format("{} are {} bytes, announced were {}", what, raw.size(), announced));
    if (reinterpret_cast<uintptr_t>(raw.data()) % 16 != 0)
      raw = buffer::copy_of(raw.data(), raw.size());
    return raw;
  }

  /// Decodes a column of `rows` rows. `errors` has the error rows: their shapes need not match
  /// `expected`, because error rows are never read.
  result<column> get(schema::Column::Reader in, size_t rows, const tensor_spec& expected,
                     const std::vector<row_error>& errors) {
    errors_ = &errors;
    if (in.getDtype() != static_cast<uint8_t>(expected.type))
      return invalid_argument(
        fmt::format("dtype {}, expected {}", in.getDtype(), to_string(expected)));
    return in.isDense() ? dense(in, rows, expected) : variable(in, rows, expected);
  }

private:
  result<buffer> decompress(const buffer& packed, uint64_t announced, std::string_view what) {
    size_t size = 0;
    const auto* data = reinterpret_cast<const char*>(packed.data());
    if (!snappy::GetUncompressedLength(data, packed.size(), &size) || size != announced)
      return data_loss(fmt::format("{} are no snappy data of {} bytes", what, announced));
    if (size > budget_)
      return resource_exhausted(fmt::format("{} would unpack to {} bytes", what, size));
    budget_ -= size;
    mutable_buffer out{size};
    if (!snappy::RawUncompress(data, packed.size(), reinterpret_cast<char*>(out.data())))
      return data_loss(fmt::format("{} are damaged snappy data", what));
    return std::move(out).freeze();
  }

  // The product, or a number larger than any buffer if it overflows.
  static size_t times(size_t a, size_t b) {
    size_t out = 0;
    return __builtin_mul_overflow(a, b, &out) ? any_size - 1 : out;
  }

  struct strings {
    buffer borders, bytes;
  };
  result<strings> get_strings(schema::Column::Reader in, size_t values) {
    if (values >= any_size / word - 1)
      return data_loss("more strings than memory");
    HEADRACE_ASSIGN(auto borders, get(in.getBorders(), (values + 1) * word, "string borders"));
    HEADRACE_ASSIGN(auto bytes, get(in.getValues(), any_size, "string bytes"));
    auto ends = borders.as<int64_t>();
    bool ascending = true;
    for (size_t i = 0; i < values; ++i) ascending &= ends[i] <= ends[i + 1];
    uint64_t total = static_cast<uint64_t>(ends[values]) - static_cast<uint64_t>(ends[0]);
    if (!ascending || ends[0] != in.getByteBase() || total != bytes.size())
      return data_loss(fmt::format("string borders do not ascend from {} over {} bytes",
                                   in.getByteBase(), bytes.size()));
    return strings{std::move(borders), std::move(bytes)};
  }

  result<buffer> get_numbers(schema::Column::Reader in, size_t values, dtype type) {
    HEADRACE_ASSIGN(auto out, get(in.getValues(), times(values, size_of(type)), "values"));
    if (type == dtype::boolean) {
      // Bytes other than 0 and 1 are not valid bools in C++.
      uint8_t all = 0;
      for (auto x : out.as<uint8_t>()) all |= x;
      if (all > 1)
        return data_loss("a bool is neither 0 nor 1");
    }
    return out;
  }

  result<column> dense(schema::Column::Reader in, size_t rows, const tensor_spec& expected) {
    std::vector<int64_t> dims;
    size_t values = rows;
    if (in.getDense().size() > most_dims)
      return data_loss(fmt::format("rank {}", in.getDense().size()));
    for (auto dim : in.getDense()) {
      if (dim > static_cast<uint64_t>(shape::most_values))
        return data_loss("a shape with more values than memory");
      dims.push_back(static_cast<int64_t>(dim));
    }
    shape row{std::move(dims)};
    // Rows of a shape must not be too large even if there are none.
    if (!row.is_bounded()
        || __builtin_mul_overflow(static_cast<size_t>(*row.elements()), rows, &values))
      return data_loss("a shape with more values than memory");
    if (!expected.dims.accepts(row) && errors_->size() != rows)
      return invalid_argument(
        fmt::format("rows of shape {}, expected {}", to_string(row), to_string(expected)));
    if (expected.type == dtype::string) {
      HEADRACE_ASSIGN(auto parts, get_strings(in, values));
      return column::strings(std::move(row), rows, std::move(parts.borders), std::move(parts.bytes),
                             in.getByteBase());
    }
    HEADRACE_ASSIGN(auto numbers, get_numbers(in, values, expected.type));
    return column::dense(expected.type, std::move(row), rows, std::move(numbers));
  }

  result<column> variable(schema::Column::Reader in, size_t rows, const tensor_spec& expected) {
    if (!in.isVariable())
      return data_loss("a column of a kind this build does not know");
    const auto rank = static_cast<size_t>(in.getVariable().getRank());
    // With rank 0 the rows have no extents, so the size of the message would not limit the number
    // of rows.
    if (rank == 0 || rank > most_dims)
      return data_loss(fmt::format("rows of variable shape and rank {}", rank));
    const bool all_failed = errors_->size() == rows;
    if (expected.dims.has_rank() && expected.dims.rank() != rank && !all_failed)
      return invalid_argument(
        fmt::format("rows of rank {}, expected {}", rank, to_string(expected)));
    HEADRACE_ASSIGN(auto dims,
                    get(in.getVariable().getDims(), times(rows, rank * word), "row shapes"));
    mutable_buffer starts{(rows + 1) * word};
    auto start = starts.as<int64_t>();
    auto extent = dims.as<int64_t>();
    int64_t total = 0;
    auto error = errors_->begin();
    for (size_t r = 0; r < rows; ++r) {
      start[r] = total;
      const bool failed = error != errors_->end() && error->row == r;
      if (failed)
        ++error;
      for (size_t d = 0; d < rank; ++d) {
        const auto n = extent[r * rank + d];
        const bool fits = failed || !expected.dims.has_rank() || expected.dims[d] == shape::unknown
                          || expected.dims[d] == n;
        if (n < 0 || !fits)
          return invalid_argument(fmt::format("row {} has extent {} at axis {}, expected {}", r, n,
                                              d, to_string(expected)));
      }
      const auto row = extent.subspan(r * rank, rank);
      if (!shape::are_bounded(row))
        return data_loss(fmt::format("row {} has more values than memory", r));
      int64_t values = 1;
      for (auto n : row) values *= n;
      if (__builtin_add_overflow(total, values, &total))
        return data_loss("rows with more values than memory");
    }
    start[rows] = total;
    auto row_starts = std::move(starts).freeze();
    const auto values = static_cast<size_t>(total);
    if (expected.type == dtype::string) {
      HEADRACE_ASSIGN(auto parts, get_strings(in, values));
      return column::variable_strings(rank, rows, std::move(parts.borders), std::move(parts.bytes),
                                      in.getByteBase(), std::move(row_starts), std::move(dims));
    }
    HEADRACE_ASSIGN(auto numbers, get_numbers(in, values, expected.type));
    return column::variable(expected.type, rank, rows, std::move(numbers), std::move(row_starts),
                            std::move(dims));
  }

  std::span<const buffer> segments_;
  size_t budget_;
  const std::vector<row_error>* errors_ = nullptr;
};

result<std::vector<row_error>> read_errors(const buffer& bytes, size_t rows) {
  std::vector<row_error> out;
  if (bytes.empty())
    return out;
  if (bytes.size() % sizeof(::capnp::word) != 0)
    return data_loss("row errors are no whole words");
  ::capnp::ReaderOptions options;
  options.traversalLimitInWords = bytes.size() / sizeof(::capnp::word) * 2 + 64;
  options.nestingLimit = 8;
  ::capnp::FlatArrayMessageReader message{
    {reinterpret_cast<const ::capnp::word*>(bytes.data()), bytes.size() / sizeof(::capnp::word)},
    options};
  auto list = message.getRoot<schema::RowErrors>().getList();
  if (list.size() > rows)
    return data_loss(fmt::format("{} errors in {} rows", list.size(), rows));
  out.reserve(list.size());
  for (auto e : list) {
    if (e.getRow() >= rows || (!out.empty() && e.getRow() <= out.back().row))
      return data_loss(fmt::format("errors do not ascend at row {} of {}", e.getRow(), rows));
    const auto why = read_failure(e);
    out.push_back({e.getRow(), e.getEndsRun() ? why.that_ends_run() : why});
  }
  return out;
}

result<std::vector<origin>> read_origins(const buffer& bytes, size_t rows) {
  std::vector<origin> out;
  if (bytes.empty())
    return out;
  if (bytes.size() % sizeof(origin_record) != 0)
    return data_loss("origins are no whole records");
  uint64_t sum = 0;
  for (const auto& r : bytes.as<origin_record>()) {
    out.push_back({r.rows, r.source, r.pass, r.split, r.step});
    sum += r.rows;
  }
  if (sum != rows)
    return data_loss(fmt::format("origins of {} rows in a block of {}", sum, rows));
  return out;
}

result<block> decode(schema::Block::Reader in, std::span<const buffer> segments,
                     const std::vector<tensor_spec>& expected, size_t most_bytes) {
  block out;
  out.rows = in.getRows();
  auto columns = in.getColumns();
  if (columns.size() != expected.size())
    return invalid_argument(
      fmt::format("a block of {} columns, expected {}", columns.size(), expected.size()));
  decoder from{segments, most_bytes};
  HEADRACE_ASSIGN(auto errors, from.get(in.getErrors(), decoder::any_size, "row errors"));
  HEADRACE_ASSIGN(out.errors, read_errors(errors, out.rows));
  for (unsigned i = 0; i < columns.size(); ++i) {
    auto c = from.get(columns[i], out.rows, expected[i], out.errors);
    if (!c)
      return c.status().with_context(fmt::format("block, column {}", i));
    out.columns.push_back(*std::move(c));
  }
  HEADRACE_ASSIGN(auto origins, from.get(in.getOrigins(), decoder::any_size, "origins"));
  HEADRACE_ASSIGN(out.origins, read_origins(origins, out.rows));
  return out;
}

} // namespace

result<block> decode_block(schema::Block::Reader in, std::span<const buffer> segments,
                           const std::vector<tensor_spec>& expected, size_t most_bytes) {
  try {
    return decode(in, segments, expected, most_bytes);
  } catch (const kj::Exception& e) {
    return data_loss(fmt::format("block header: {}", e.getDescription().cStr()));
  }
}

bool is_compressed(schema::Block::Reader in) {
  const auto packed = [](schema::Part::Reader part) {
    return part.getEncoding() != schema::Part::Encoding::NONE;
  };
  try {
    for (auto x : in.getColumns())
      if (packed(x.getValues()) || packed(x.getBorders())
          || (x.isVariable() && packed(x.getVariable().getDims())))
        return true;
    return false;
  } catch (const kj::Exception&) {
    return false;
  }
}

} // namespace headrace::detail
