#include "headrace/pipeline/functions/operations/feature_column.hpp"
#include "headrace/pipeline/functions/operations/ops.hpp"
#include "headrace/pipeline/functions/representation/expression_makers.hpp"
#include "headrace/pipeline/functions/representation/operand_rule.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <protozero/pbf_reader.hpp>

namespace headrace::detail {

namespace {

// The protobuf messages that are parsed here, in protobuf's notation. For tf.train.Example: message
// Example { Features features = 1; } message Features { map<string, Feature> feature = 1; }
// For tf.train.SequenceExample: message SequenceExample { Features context = 1; FeatureLists
// feature_lists = 2; } message FeatureLists { map<string, FeatureList> feature_list = 1; }
// message FeatureList { repeated Feature feature = 1; }
using reader = protozero::pbf_reader;

constexpr auto length_delimited_field = protozero::pbf_wire_type::length_delimited;

class example_parser {
public:
  example_parser(const expr_node& node, size_t rows)
    : in_sequences_(node.op == expr_op::parse_sequence_example) {
    columns_.reserve(node.attrs.features.size());
    for (const auto& f : node.attrs.features) {
      columns_.emplace_back(f, rows);
      indexed_ = indexed_ || !f.index_name.empty();
    }
  }

  status parse(std::string_view serialized) {
    for (auto& c : columns_) c.begin_row();
    try {
      next_ = 0;
      reader example{serialized.data(), serialized.size()};
      while (example.next()) {
        const bool lists = in_sequences_ && example.tag() == 2;
        if ((example.tag() != 1 && !lists) || example.wire_type() != length_delimited_field) {
          example.skip();
          continue;
        }
        reader features{example.get_view()};
        while (features.next(1, length_delimited_field))
          HEADRACE_TRY(read_entry(features.get_view(), lists));
      }
    } catch (const protozero::exception& e) {
      return invalid_argument(fmt::format("{} bytes are no tf.train.{}: {}", serialized.size(),
                                          in_sequences_ ? "SequenceExample" : "Example", e.what()));
    }
    for (auto& c : columns_) HEADRACE_TRY(c.end_row());
    return {};
  }
  void commit(bool failed) {
    for (auto& c : columns_) c.commit(failed);
  }
  std::vector<column> finish() && {
    std::vector<column> out;
    for (auto& c : columns_) out.push_back(std::move(c).finish());
    return out;
  }

private:
  status read_entry(protozero::data_view entry, bool lists) {
    reader parts{entry};
    std::string_view key;
    protozero::data_view value;
    while (parts.next()) {
      const bool bytes = parts.wire_type() == length_delimited_field;
      if (bytes && parts.tag() == 1) {
        const auto text = parts.get_view();
        key = {text.data(), text.size()};
      } else if (bytes && parts.tag() == 2) {
        value = parts.get_view();
      } else {
        parts.skip();
      }
    }
    if (indexed_ && !lists)
      for (auto& c : columns_)
        if (!c.spec().index_name.empty() && c.spec().index_name == key)
          HEADRACE_TRY(c.read_index(value));
    auto* found = find(key, lists);
    if (found == nullptr)
      return {};
    return lists ? found->read_steps(value) : found->read(value);
  }

  /// Returns the column of the feature `key`; null if there is none. Examples of one writer have
  /// their features in one order, so the feature after the last found one is tried first.
  feature_column* find(std::string_view key, bool lists) {
    for (size_t i = 0; i < columns_.size(); ++i) {
      const auto at = next_ + i < columns_.size() ? next_ + i : next_ + i - columns_.size();
      if (columns_[at].spec().name == key && columns_[at].spec().in_lists == lists) {
        next_ = at + 1 == columns_.size() ? 0 : at + 1;
        return &columns_[at];
      }
    }
    return nullptr;
  }

  std::vector<feature_column> columns_;
  bool in_sequences_;
  bool indexed_ = false;
  size_t next_ = 0;
};

/// Combines the values of one feature in all examples of a row to one tensor. The values of each
/// example are filled to the greatest length.
class example_batches {
public:
  /// `given`: the number of examples of each row; negative: not known.
  example_batches(const feature_spec& feature, int64_t given, size_t rows)
    : feature_(feature),
      nothing_(shape_of_nothing(spec_of(feature), 0)),
      given_(std::max<int64_t>(0, given)),
      out_(feature.type, rows) {}

  /// Adds a row that consists of the examples `[first, last)` of `in`.
  status add(const column& in, size_t first, size_t last) {
    if (first == last) {
      out_.end_row(nothing_.with_leading(0));
      return {};
    }
    auto dims = in.shape_of(first);
    for (auto i = first; i < last; ++i)
      if (const auto one = in.shape_of(i); !one.is_scalar() && one[0] > dims[0])
        dims = one;
    const auto wanted = *dims.elements();
    const auto count = static_cast<int64_t>(last - first);
    if (wanted != 0 && count > most_padded / wanted)
      return resource_exhausted(
        fmt::format("feature '{}' padded to {} by {} values", feature_.name, count, wanted));
    for (auto i = first; i < last; ++i) {
      const auto begin = in.first_value(i), end = in.first_value(i + 1);
      put(in, begin, end - begin);
      for (auto n = end - begin; n < wanted; ++n) put_filler();
    }
    out_.end_row(dims.with_leading(count));
    return {};
  }
  void add_nothing() { out_.end_row_of_nothing(nothing_.with_leading(given_)); }
  column finish() && { return std::move(out_).finish(); }

private:
  void put(const column& in, int64_t first, int64_t count) {
    if (in.is_string()) {
      for (auto i = first; i < first + count; ++i)
        out_.add_string(in.string(static_cast<size_t>(i)));
      return;
    }
    const auto size = size_of(feature_.type);
    const auto n = static_cast<size_t>(count);
    if (n != 0)
      std::memcpy(out_.extend(n), in.value_buffer().data() + static_cast<size_t>(first) * size,
                  n * size);
  }
  void put_filler() {
    if (feature_.has_default)
      return put(feature_.default_value, 0, 1);
    if (feature_.type == dtype::string)
      return out_.add_string("");
    std::memset(out_.extend(1), 0, size_of(feature_.type));
  }

  static constexpr int64_t most_padded = int64_t{1} << 30;

  const feature_spec& feature_;
  shape nothing_;
  int64_t given_;
  column_builder out_;
};

/// Runs `parse_example` for rows that are vectors of examples.
std::vector<column> run_batches(const op_call& call) {
  const auto& in = *call.inputs[0].data;
  example_parser parser{call.node, static_cast<size_t>(in.total_values())};
  std::vector<bool> failed(call.rows);
  for (size_t r = 0; r < call.rows; ++r) {
    failed[r] = call.skips(r);
    const auto first = in.first_value(r);
    for (auto v = first; v < in.first_value(r + 1); ++v) {
      if (!failed[r]) {
        const auto why = parser.parse(in.string(static_cast<size_t>(v)));
        failed[r] = !why.ok();
        if (failed[r])
          call.fail(r, why.with_context(fmt::format("example {}", v - first)));
      }
      parser.commit(failed[r]);
    }
  }
  const auto examples = std::move(parser).finish();
  std::vector<column> out;
  for (size_t f = 0; f < examples.size(); ++f) {
    example_batches batches{call.node.attrs.features[f], call.node.inputs[0]->spec.dims[0],
                            call.rows};
    for (size_t r = 0; r < call.rows; ++r) {
      const auto first = static_cast<size_t>(in.first_value(r)),
                 last = static_cast<size_t>(in.first_value(r + 1));
      if (!failed[r]) {
        const auto added = batches.add(examples[f], first, last);
        failed[r] = !added.ok();
        if (added.ok())
          continue;
        call.fail(r, added);
      }
      batches.add_nothing();
    }
    out.push_back(std::move(batches).finish());
  }
  std::sort(call.errors.begin(), call.errors.end(),
            [](const row_error& a, const row_error& b) { return a.row < b.row; });
  return out;
}

status check_feature(const feature_spec& x) {
  if (x.type != dtype::int64 && x.type != dtype::float32 && x.type != dtype::string)
    return invalid_argument(fmt::format("feature '{}' is {}; int64, float32 and string can be read",
                                        x.name, to_string(x.type)));
  if (x.size < 0 || x.size > (int64_t{1} << 30))
    return invalid_argument(fmt::format("feature '{}' has {} places", x.name, x.size));
  if (!x.index_name.empty() && (x.in_lists || x.sequence || !x.dims.is_scalar()))
    return invalid_argument(fmt::format(
      "feature '{}' has its places in '{}': it is a list of scalars", x.name, x.index_name));
  if (x.size > 0 && x.index_name.empty())
    return invalid_argument(fmt::format("feature '{}' is sparse: its places are needed", x.name));
  if (x.in_lists && !x.sequence && !x.variable)
    return invalid_argument(
      fmt::format("feature '{}' is a list: it has steps of a shape, or of any length", x.name));
  if (x.variable && !x.dims.is_scalar())
    return invalid_argument(fmt::format("feature '{}' has any number of values, and a shape {}",
                                        x.name, to_string(x.dims)));
  if (!x.dims.is_static())
    return invalid_argument(fmt::format("feature '{}' has shape {}; its extents must be known, or "
                                        "use var_len_feature",
                                        x.name, to_string(x.dims)));
  for (auto dim : x.dims.dims())
    if (dim < 0 || dim > (int64_t{1} << 32))
      return invalid_argument(fmt::format("feature '{}' has shape {}", x.name, to_string(x.dims)));
  if (!x.has_default)
    return {};
  const auto& value = x.default_value;
  const auto wanted = x.sequence ? shape{} : x.dims; // the default of a sequence is a scalar
  if (value.rows() != 1 || value.type() != x.type || value.shape_of(0) != wanted)
    return invalid_argument(fmt::format("the default of feature '{}' is not one {}", x.name,
                                        to_string(tensor_spec{x.type, wanted})));
  return {};
}

template <expr_op Op>
result<tensor_spec> infer_parse(const library_operands& in) {
  constexpr auto op = Op;
  const auto& attrs = in.attrs;
  if (in[0].type != dtype::string)
    return invalid_argument(
      fmt::format("an operand is {}; it must be {}", to_string(in[0]), kinds::text.words));
  const auto& given = in[0].dims;
  const bool several = op == expr_op::parse_example && given.has_rank() && given.rank() == 1;
  if (given.has_rank() && !given.is_scalar() && !several)
    return invalid_argument(fmt::format("the serialized example has shape {}; a scalar is needed{}",
                                        to_string(given),
                                        op == expr_op::parse_example ? ", or a vector" : ""));
  if (attrs.index < 0 || attrs.index >= static_cast<int64_t>(attrs.features.size()))
    return invalid_argument(
      fmt::format("component {} of {} features", attrs.index, attrs.features.size()));
  for (size_t i = 0; i < attrs.features.size(); ++i) {
    HEADRACE_TRY(check_feature(attrs.features[i]));
    if (attrs.features[i].in_lists && op == expr_op::parse_example)
      return invalid_argument(fmt::format("feature '{}' is one of the lists of a sequence example",
                                          attrs.features[i].name));
    if (several && !attrs.features[i].index_name.empty() && attrs.features[i].size == 0)
      return invalid_argument(fmt::format("feature '{}' has rows of different lengths: it is read "
                                          "from one example at a time",
                                          attrs.features[i].name));
    for (size_t j = 0; j < i; ++j)
      if (attrs.features[j].name == attrs.features[i].name
          && attrs.features[j].in_lists == attrs.features[i].in_lists)
        return invalid_argument(fmt::format("feature '{}' is named twice", attrs.features[i].name));
  }
  auto out = spec_of(attrs.features[static_cast<size_t>(attrs.index)]);
  if (several)
    out.dims = out.dims.with_leading(given[0]);
  return out;
}

std::vector<column> run_parse_example(const op_call& call) {
  const auto& in = *call.inputs[0].data;
  if (const auto& given = call.node.inputs[0]->spec.dims;
      call.node.op == expr_op::parse_example && given.has_rank() && given.rank() == 1)
    return run_batches(call);
  example_parser parser{call.node, call.rows};
  for (size_t r = 0; r < call.rows; ++r) {
    bool failed = call.skips(r);
    if (!failed) {
      const auto first = in.first_value(r);
      const auto why = in.first_value(r + 1) - first == 1
                         ? parser.parse(in.string(static_cast<size_t>(first)))
                         : invalid_argument("the serialized example must be a scalar string");
      failed = !why.ok();
      if (failed)
        call.fail(r, why);
    }
    parser.commit(failed);
  }
  return std::move(parser).finish();
}

} // namespace

std::span<const library_function> example_functions() {
  static constexpr operand_rule decoded{
    .takes = kinds::text,
    .dims = of_first<shape_rules::with_last_axis>,
    .type = gives::asked,
    .check = [](const library_operands& in) {
      return in.type == dtype::string || in.type == dtype::boolean ? invalid_argument(
               fmt::format("cannot decode to {}; numbers can be decoded", to_string(in.type)))
                                                                   : status{};
    }};
  static constexpr library_function functions[] = {
    {expr_op::parse_example, "parse_example", 1, 1, infer_parse<expr_op::parse_example>, nullptr,
     nullptr, run_parse_example},
    {expr_op::parse_sequence_example, "parse_sequence_example", 1, 1,
     infer_parse<expr_op::parse_sequence_example>, nullptr, nullptr, run_parse_example},
    {expr_op::decode_raw, "decode_raw", 1, 1, infer_by<decoded>, run_decode_raw},
  };
  return functions;
}

} // namespace headrace::detail
