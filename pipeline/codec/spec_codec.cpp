#include "headrace/pipeline/codec/spec_codec.hpp"

#include "headrace/schemas/text.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace headrace::detail {

namespace {

constexpr size_t most_rank = 64;
constexpr size_t deepest_structure = 16;
constexpr size_t most_leaves = 4096;
constexpr uint8_t most_nesting = 8;
constexpr size_t longest_label = 4096; // bytes

result<structure> decode_structure(schema::Structure::Reader in, size_t depth, size_t& leaves) {
  if (depth > deepest_structure)
    return invalid_argument(fmt::format("a structure nested more than {} deep", deepest_structure));
  if (in.getKind() == schema::Structure::Kind::LEAF) {
    if (++leaves > most_leaves)
      return invalid_argument(fmt::format("a structure of more than {} leaves", most_leaves));
    return structure{};
  }
  if (in.getLabel().size() > longest_label)
    return invalid_argument(
      fmt::format("a structure with a label of {} bytes", in.getLabel().size()));
  std::vector<structure> children;
  for (auto child : in.getChildren()) {
    HEADRACE_ASSIGN(auto part, decode_structure(child, depth + 1, leaves));
    children.push_back(std::move(part));
    // A structure without leaves also takes memory, so the number of children is bounded.
    if (children.size() > most_leaves)
      return invalid_argument(fmt::format("a structure of more than {} parts", most_leaves));
  }
  if (in.getKind() == schema::Structure::Kind::TUPLE)
    return structure::tuple(std::move(children)).labelled(string_of(in.getLabel()));
  if (in.getKind() == schema::Structure::Kind::RAGGED) {
    if (children.size() < 2
        || !std::ranges::all_of(children, [](const auto& child) { return child.is_leaf(); }))
      return invalid_argument("a ragged tensor is made of values and row lengths");
    return structure::ragged(children.size() - 1);
  }
  if (in.getKind() != schema::Structure::Kind::NAMED)
    return invalid_argument("a structure of a kind that this build does not know");
  std::vector<std::string> names;
  for (auto name : in.getNames()) names.emplace_back(text_of(name));
  if (names.size() != children.size()
      || std::set<std::string>(names.begin(), names.end()).size() != names.size())
    return invalid_argument(
      fmt::format("{} parts with {} names, or two of one name", children.size(), names.size()));
  return structure::named(std::move(names), std::move(children)).labelled(string_of(in.getLabel()));
}

} // namespace

void encode(const shape& x, schema::Shape::Builder out) {
  out.setUnknownRank(!x.has_rank());
  if (!x.has_rank())
    return;
  auto dims = out.initDims(static_cast<unsigned>(x.rank()));
  for (unsigned i = 0; i < dims.size(); ++i) dims.set(i, x[i]);
}

void encode(const tensor_spec& x, schema::TensorSpec::Builder out) {
  out.setDtype(static_cast<uint8_t>(x.type));
  encode(x.dims, out.initShape());
  out.setNesting(x.nesting);
}

void encode(const structure& x, schema::Structure::Builder out) {
  if (x.is_leaf())
    return;
  using kind = schema::Structure::Kind;
  out.setKind(x.is_ragged()                        ? kind::RAGGED
              : x.what() == structure::kind::tuple ? kind::TUPLE
                                                   : kind::NAMED);
  if (!x.label().empty())
    out.setLabel(text_of(x.label()));
  auto children = out.initChildren(static_cast<unsigned>(x.children().size()));
  for (unsigned i = 0; i < children.size(); ++i) encode(x.children()[i], children[i]);
  if (x.what() != structure::kind::named)
    return;
  auto names = out.initNames(static_cast<unsigned>(x.names().size()));
  for (unsigned i = 0; i < names.size(); ++i) names.set(i, text_of(x.names()[i]));
}

void encode(const element_spec& x, schema::ElementSpec::Builder out) {
  encode(x.layout, out.initLayout());
  auto components = out.initComponents(static_cast<unsigned>(x.components.size()));
  for (unsigned i = 0; i < components.size(); ++i) encode(x.components[i], components[i]);
}

void encode(const column& x, schema::Tensor::Builder out) {
  out.setDtype(static_cast<uint8_t>(x.type()));
  const auto row = x.shape_of(0);
  auto dims = out.initDims(static_cast<unsigned>(row.rank()));
  for (unsigned i = 0; i < dims.size(); ++i) dims.set(i, row[i]);
  const auto values = static_cast<size_t>(x.first_value(1));
  if (!x.is_string()) {
    out.setNumbers(
      {reinterpret_cast<const kj::byte*>(x.value_buffer().data()), values * size_of(x.type())});
    return;
  }
  auto strings = out.initStrings(static_cast<unsigned>(values));
  for (unsigned i = 0; i < strings.size(); ++i) strings.set(i, data_of(x.string(i)));
}

result<dtype> decode_dtype(uint8_t number) {
  if (number < static_cast<uint8_t>(dtype::boolean) || number > static_cast<uint8_t>(dtype::string))
    return invalid_argument(fmt::format("dtype {} is not known to this build", number));
  return static_cast<dtype>(number);
}

result<shape> decode(schema::Shape::Reader in) {
  if (in.getUnknownRank())
    return shape::unknown_rank();
  if (in.getDims().size() > most_rank)
    return invalid_argument(fmt::format("a shape of rank {}", in.getDims().size()));
  std::vector<int64_t> dims;
  for (auto extent : in.getDims()) {
    if (extent < shape::unknown)
      return invalid_argument(fmt::format("a shape with an extent of {}", extent));
    dims.push_back(extent);
  }
  shape out{std::move(dims)};
  HEADRACE_TRY(check_bounded(out));
  return out;
}

result<tensor_spec> decode(schema::TensorSpec::Reader in) {
  HEADRACE_ASSIGN(auto type, decode_dtype(in.getDtype()));
  HEADRACE_ASSIGN(auto dims, decode(in.getShape()));
  if (in.getNesting() > most_nesting)
    return invalid_argument(fmt::format("datasets nested {} deep", in.getNesting()));
  return tensor_spec{type, std::move(dims), in.getNesting()};
}

result<structure> decode(schema::Structure::Reader in) {
  size_t leaves = 0;
  return decode_structure(in, 0, leaves);
}

result<element_spec> decode(schema::ElementSpec::Reader in) {
  HEADRACE_ASSIGN(auto layout, decode(in.getLayout()));
  if (in.getComponents().size() != layout.leaves())
    return invalid_argument(fmt::format("{} component specs for a structure of {} leaves",
                                        in.getComponents().size(), layout.leaves()));
  std::vector<tensor_spec> components;
  for (auto c : in.getComponents()) {
    HEADRACE_ASSIGN(auto spec, decode(c));
    components.push_back(std::move(spec));
  }
  return element_spec{std::move(layout), std::move(components)};
}

result<column> decode(schema::Tensor::Reader in) {
  HEADRACE_ASSIGN(auto type, decode_dtype(in.getDtype()));
  if (in.getDims().size() > most_rank)
    return invalid_argument(fmt::format("a constant of rank {}", in.getDims().size()));
  std::vector<int64_t> dims;
  for (auto extent : in.getDims()) {
    if (extent < 0)
      return invalid_argument(fmt::format("a constant with an extent of {}", extent));
    dims.push_back(extent);
  }
  const shape row{dims};
  HEADRACE_TRY(check_bounded(row));
  const auto values = *row.elements();
  if (type == dtype::string) {
    if (!in.isStrings() || in.getStrings().size() != static_cast<uint64_t>(values))
      return invalid_argument(fmt::format("a constant without its {} strings", values));
    buffer_builder borders, bytes;
    borders.push_back(int64_t{0});
    for (auto s : in.getStrings()) {
      bytes.append(s.begin(), s.size());
      borders.push_back(static_cast<int64_t>(bytes.size()));
    }
    return column::strings(shape{std::move(dims)}, 1, borders.finish(), bytes.finish());
  }
  size_t size = 0;
  if (!in.isNumbers() || __builtin_mul_overflow(static_cast<size_t>(values), size_of(type), &size)
      || in.getNumbers().size() != size)
    return invalid_argument(fmt::format("a constant without the bytes of its {} values", values));
  if (type == dtype::boolean)
    for (auto x : in.getNumbers())
      if (x > 1)
        return invalid_argument("a constant with a bool that is neither 0 nor 1");
  return column::dense(type, shape{std::move(dims)}, 1,
                       buffer::copy_of(in.getNumbers().begin(), size));
}

} // namespace headrace::detail
