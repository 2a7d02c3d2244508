#include "headrace/pipeline/functions/operations/ops.hpp"
#include "headrace/pipeline/functions/representation/library.hpp"

#include <array>
#include <bit>
#include <fmt/format.h>
#include <protozero/pbf_reader.hpp>
#include <protozero/pbf_writer.hpp>

#include <cstring>

namespace headrace::detail {

namespace {

// A tensor as TensorFlow writes it: message TensorProto { DataType dtype = 1; TensorShapeProto
// tensor_shape = 2; bytes tensor_content = 4; repeated float float_val = 5 ... }, message
// TensorShapeProto { message Dim { int64 size = 1; } repeated Dim dim = 2; bool unknown_rank = 3;
// }. The values are in tensor_content with the layout that they have in memory, or in the repeated
// field of the dtype. If this field has too few values, the last one is repeated.
static_assert(std::endian::native == std::endian::little);

/// The most bytes of a tensor in which the last given value is repeated.
constexpr int64_t most_repeated_bytes = int64_t{1} << 30;
constexpr protozero::pbf_tag_type string_field = 8;

struct proto_type {
  dtype type;
  uint32_t number;               ///< the number of the dtype in TensorFlow's enum DataType
  protozero::pbf_tag_type field; ///< the repeated field for values that are not in tensor_content
};
constexpr std::array<proto_type, 16> proto_types{{
  {dtype::float32, 1, 5},
  {dtype::float64, 2, 6},
  {dtype::int32, 3, 7},
  {dtype::uint8, 4, 7},
  {dtype::int16, 5, 7},
  {dtype::int8, 6, 7},
  {dtype::string, 7, 8},
  {dtype::complex64, 8, 9},
  {dtype::int64, 9, 10},
  {dtype::boolean, 10, 11},
  {dtype::bfloat16, 14, 13},
  {dtype::uint16, 17, 7},
  {dtype::complex128, 18, 12},
  {dtype::float16, 19, 13},
  {dtype::uint32, 22, 16},
  {dtype::uint64, 23, 17},
}};

const proto_type& proto_type_of(dtype type) {
  return *std::ranges::find(proto_types, type, &proto_type::type);
}

// -- writing ------------------------------------------------------------------------------

std::string written_tensor(const column& in, size_t row) {
  std::string out;
  protozero::pbf_writer tensor{out};
  tensor.add_enum(1, static_cast<int32_t>(proto_type_of(in.type()).number));
  // Nested writers would leave out empty messages (extents of 0), so messages are made as bytes.
  std::string dims;
  protozero::pbf_writer to_dims{dims};
  const auto of_row = in.shape_of(row);
  for (auto extent : of_row.dims()) {
    std::string dim;
    if (extent != 0)
      protozero::pbf_writer{dim}.add_int64(1, extent);
    to_dims.add_message(2, dim);
  }
  tensor.add_message(2, dims);
  const auto first = static_cast<size_t>(in.first_value(row));
  const auto last = static_cast<size_t>(in.first_value(row + 1));
  if (in.is_string()) {
    for (auto i = first; i < last; ++i) {
      const auto text = in.string(i);
      tensor.add_bytes(string_field, text.data(), text.size());
    }
  } else if (first != last) {
    const auto size = size_of(in.type());
    const auto* values = reinterpret_cast<const char*>(in.value_buffer().data()) + first * size;
    tensor.add_bytes(4, values, (last - first) * size);
  }
  return out;
}

result<tensor_spec> infer_serialize_tensor(const library_operands&) {
  return tensor_spec{dtype::string, shape{}};
}

column run_serialize_tensor(const op_call& call) {
  const auto& in = call.inputs[0];
  column_builder out{dtype::string, call.rows};
  for (size_t r = 0; r < call.rows; ++r) {
    if (call.skips(r)) {
      out.end_row_of_nothing({});
      continue;
    }
    out.add_string(written_tensor(*in.data, in.row(r)));
    out.end_row({});
  }
  return std::move(out).finish();
}

// -- reading ------------------------------------------------------------------------------

/// The parts of a serialised tensor.
struct read_tensor {
  uint32_t number = 0; ///< the number of its dtype in DataType
  std::vector<int64_t> dims;
  int64_t elements = 1;
  protozero::data_view content;
  std::vector<std::string_view> strings;
  std::string values; ///< the values of the repeated field, with their layout in memory
};

status read_dims(protozero::pbf_reader dims, read_tensor& to) {
  while (dims.next()) {
    if (dims.tag() == 3 && dims.wire_type() == protozero::pbf_wire_type::varint) {
      if (dims.get_bool())
        return invalid_argument("it is a tensor of unknown rank");
      continue;
    }
    if (dims.tag() != 2 || dims.wire_type() != protozero::pbf_wire_type::length_delimited) {
      dims.skip();
      continue;
    }
    int64_t extent = 0;
    protozero::pbf_reader dim{dims.get_view()};
    while (dim.next())
      if (dim.tag() == 1 && dim.wire_type() == protozero::pbf_wire_type::varint)
        extent = dim.get_int64();
      else
        dim.skip();
    if (extent < 0)
      return invalid_argument(fmt::format("it has an extent of {}", extent));
    if (to.dims.size() == 254)
      return invalid_argument("it has more than 254 axes");
    to.dims.push_back(extent);
  }
  const shape all{to.dims};
  HEADRACE_TRY(check_bounded(all));
  to.elements = *all.elements();
  return {};
}

template <class T>
void add_value(T x, std::string& to) {
  to.append(reinterpret_cast<const char*>(&x), sizeof x);
}

/// Appends to `to` the bytes that one value of a repeated field of numbers has in memory.
void add_number(dtype type, protozero::pbf_tag_type field, uint64_t bits, std::string& to) {
  if (field == 11) // bool_val
    return add_value<uint8_t>(bits != 0, to);
  // Varints and halves are truncated to the dtype, because they were widened from it.
  to.append(reinterpret_cast<const char*>(&bits), size_of(type));
}

/// Appends to `to` an entry of the dtype's repeated field: packed values, or one value.
status read_values(protozero::pbf_reader& tensor, const proto_type& of, std::string& to) {
  const auto fixed = of.field == 5 || of.field == 9    ? size_t{4}
                     : of.field == 6 || of.field == 12 ? size_t{8}
                                                       : size_t{0};
  using wire = protozero::pbf_wire_type;
  if (tensor.wire_type() == wire::length_delimited) {
    const auto packed = tensor.get_view();
    if (fixed != 0) {
      if (packed.size() % fixed != 0)
        return invalid_argument("its values are cut off");
      to.append(packed.data(), packed.size());
      return {};
    }
    const auto* at = packed.data();
    const auto* end = at + packed.size();
    while (at != end) add_number(of.type, of.field, protozero::decode_varint(&at, end), to);
    return {};
  }
  if (tensor.wire_type() == wire::varint && fixed == 0)
    add_number(of.type, of.field, tensor.get_uint64(), to);
  else if (tensor.wire_type() == wire::fixed32 && fixed == 4)
    add_value(tensor.get_float(), to);
  else if (tensor.wire_type() == wire::fixed64 && fixed == 8)
    add_value(tensor.get_double(), to);
  else
    return invalid_argument("its values are of another kind than its dtype");
  return {};
}

status read_proto(std::string_view serialized, const proto_type& wanted, read_tensor& to) {
  try {
    protozero::pbf_reader tensor{serialized.data(), serialized.size()};
    using wire = protozero::pbf_wire_type;
    while (tensor.next()) {
      const auto tag = tensor.tag();
      if (tag == 1 && tensor.wire_type() == wire::varint)
        to.number = tensor.get_uint32();
      else if (tag == 2 && tensor.wire_type() == wire::length_delimited)
        HEADRACE_TRY(read_dims(protozero::pbf_reader{tensor.get_view()}, to));
      else if (tag == 4 && tensor.wire_type() == wire::length_delimited)
        to.content = tensor.get_view();
      else if (tag == string_field && wanted.field == string_field
               && tensor.wire_type() == wire::length_delimited) {
        const auto text = tensor.get_view();
        to.strings.emplace_back(text.data(), text.size());
      } else if (tag == wanted.field && tag != string_field)
        HEADRACE_TRY(read_values(tensor, wanted, to.values));
      else
        tensor.skip();
    }
  } catch (const protozero::exception& e) {
    return invalid_argument(
      fmt::format("{} bytes are no serialised tensor: {}", serialized.size(), e.what()));
  }
  if (to.number == wanted.number)
    return {};
  const auto known = std::ranges::find(proto_types, to.number, &proto_type::number);
  return invalid_argument(fmt::format("it is a tensor of {}, and out_type is {}",
                                      known != proto_types.end()
                                        ? std::string{to_string(known->type)}
                                        : fmt::format("TensorFlow's dtype {}", to.number),
                                      to_string(wanted.type)));
}

status append_strings(const read_tensor& from, column_builder& to) {
  const auto n = static_cast<size_t>(from.elements);
  if (from.strings.size() > n || (from.strings.empty() && n != 0))
    return invalid_argument(
      fmt::format("it has {} strings in a shape of {}", from.strings.size(), n));
  if (from.strings.size() < n
      && n > static_cast<size_t>(most_repeated_bytes) / (from.strings.back().size() + 8))
    return invalid_argument("its shape repeats one string for more than a GiB");
  for (size_t i = 0; i < n; ++i) to.add_string(from.strings[std::min(i, from.strings.size() - 1)]);
  return {};
}

status append_numbers(const read_tensor& from, dtype type, column_builder& to) {
  const auto size = static_cast<int64_t>(size_of(type));
  const auto given = from.content.size() != 0
                       ? std::string_view{from.content.data(), from.content.size()}
                       : std::string_view{from.values};
  const auto n = static_cast<int64_t>(given.size()) / size;
  if (static_cast<int64_t>(given.size()) % size != 0 || n > from.elements
      || (n < from.elements && (n == 0 || from.content.size() != 0)))
    return invalid_argument(fmt::format("it has {} bytes of values in a shape of {} values of {}",
                                        given.size(), from.elements, to_string(type)));
  if (n < from.elements && from.elements > most_repeated_bytes / size)
    return invalid_argument("its shape repeats one value for more than a GiB");
  auto* out = to.extend(static_cast<size_t>(from.elements));
  if (!given.empty())
    std::memcpy(out, given.data(), given.size());
  for (auto i = n; i < from.elements; ++i)
    std::memcpy(out + i * size, given.data() + (n - 1) * size, static_cast<size_t>(size));
  if (type == dtype::boolean)
    for (int64_t i = 0; i < from.elements; ++i) out[i] = std::byte{out[i] != std::byte{0}};
  return {};
}

result<tensor_spec> infer_parse_tensor(const library_operands& in) {
  if (in[0].type != dtype::string || (in[0].dims.has_rank() && in[0].dims.rank() != 0))
    return invalid_argument(
      fmt::format("the operand is {}; a scalar string is needed", to_string(in[0])));
  return tensor_spec{in.type, shape::unknown_rank()};
}

column run_parse_tensor(const op_call& call) {
  const auto& in = call.inputs[0];
  const auto& wanted = proto_type_of(call.node.spec.type);
  column_builder out{wanted.type, call.rows};
  std::optional<size_t> rank; // the rank of all rows; a column has only one
  const auto fail = [&](size_t r, const status& why) {
    call.fail(r, why);
    out.end_row_of_nothing(shape_of_nothing(call.node.spec, rank.value_or(0)));
  };
  // All rows are read first, so that rows without a value get the rank of the first tensor, too.
  std::vector<read_tensor> read(call.rows);
  std::vector<status> how(call.rows);
  for (size_t r = 0; r < call.rows; ++r) {
    if (call.skips(r))
      continue;
    if (const auto row = in.shape_of(r); row.is_scalar())
      how[r] = read_proto(in.data->string(static_cast<size_t>(in.first_value(r))), wanted, read[r]);
    else
      how[r] =
        invalid_argument(fmt::format("the text has shape {}; a scalar is needed", to_string(row)));
    if (how[r].ok() && !rank)
      rank = read[r].dims.size();
    else if (how[r].ok() && read[r].dims.size() != *rank)
      how[r] = invalid_argument(fmt::format(
        "it has {} axes, and another tensor of this dataset has {}: all must have as many",
        read[r].dims.size(), *rank));
  }
  for (size_t r = 0; r < call.rows; ++r) {
    if (call.skips(r)) {
      out.end_row_of_nothing(shape_of_nothing(call.node.spec, rank.value_or(0)));
      continue;
    }
    if (how[r].ok())
      how[r] = wanted.type == dtype::string ? append_strings(read[r], out)
                                            : append_numbers(read[r], wanted.type, out);
    if (how[r].ok())
      out.end_row(shape{std::move(read[r].dims)});
    else
      fail(r, how[r]);
  }
  return std::move(out).finish();
}

} // namespace

std::span<const library_function> tensor_proto_functions() {
  static constexpr library_function functions[] = {
    {expr_op::serialize_tensor, "io.serialize_tensor", 1, 1, infer_serialize_tensor,
     run_serialize_tensor},
    {expr_op::parse_tensor, "io.parse_tensor", 1, 1, infer_parse_tensor, run_parse_tensor},
  };
  return functions;
}

} // namespace headrace::detail
