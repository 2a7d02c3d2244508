#include "headrace/pipeline/functions/operations/alignment.hpp"
#include "headrace/pipeline/functions/operations/ops.hpp"
#include "headrace/pipeline/functions/operations/string_columns.hpp"
#include "headrace/pipeline/functions/representation/operand_rule.hpp"
#include "headrace/pipeline/kernels/letter_case.hpp"
#include "headrace/pipeline/kernels/string_scalar.hpp"

#include <fmt/format.h>

namespace headrace::detail {

namespace {

column run_length(const op_call& call) {
  const auto& in = *call.inputs[0].data;
  const auto n = static_cast<size_t>(in.total_values());
  mutable_buffer out{n * sizeof(int32_t)};
  const auto ends = in.border_buffer().as<int64_t>();
  auto* to = out.as<int32_t>().data();
  for (size_t i = 0; i < n; ++i) to[i] = static_cast<int32_t>(ends[i + 1] - ends[i]);
  return with_shapes_of(in, dtype::int32, std::move(out).freeze());
}

/// Changes all bytes in one pass; the borders stay as they are.
column run_case(const op_call& call) {
  const auto& in = *call.inputs[0].data;
  const auto ends = in.border_buffer().as<int64_t>();
  const auto n = static_cast<size_t>(in.total_values());
  const auto bytes = static_cast<size_t>(ends[n] - ends[0]);
  const auto* from =
    reinterpret_cast<const char*>(in.value_buffer().data()) + (ends[0] - in.byte_base());
  mutable_buffer out{bytes};
  const auto change =
    call.node.op == expr_op::string_upper ? kernels::ascii_upper() : kernels::ascii_lower();
  change(reinterpret_cast<char*>(out.data()), from, bytes);
  return strings_with_shapes_of(in, in.border_buffer(), std::move(out).freeze(), ends[0]);
}

column run_strip(const op_call& call) {
  return change_strings(*call.inputs[0].data, [](std::string_view x, buffer_builder& bytes) {
    const auto text = text::strip(x);
    bytes.append(text.data(), text.size());
  });
}

column run_split(const op_call& call) {
  const auto& in = *call.inputs[0].data;
  column_builder out{dtype::string, call.rows};
  for (size_t r = 0; r < call.rows; ++r) {
    int64_t parts = 0;
    const auto values = in.first_value(r + 1) - in.first_value(r);
    if (!call.skips(r) && values != 1)
      call.fail(r, invalid_argument("a scalar string is needed"));
    else if (!call.skips(r))
      text::split(in.string(static_cast<size_t>(in.first_value(r))), call.node.attrs.text,
                  [&](std::string_view part) {
                    out.add_string(part);
                    ++parts;
                  });
    out.end_row(shape{parts});
  }
  return std::move(out).finish();
}

column run_join(const op_call& call) {
  const auto to = align(call);
  std::vector<operand_reader> readers;
  for (size_t i = 0; i < call.inputs.size(); ++i) readers.emplace_back(to, i, *call.inputs[i].data);
  buffer_builder borders, bytes;
  borders.push_back(int64_t{0});
  const auto& separator = call.node.attrs.text;
  for (int64_t v = 0; v < to.total; ++v) {
    for (size_t i = 0; i < readers.size(); ++i) {
      const auto at = readers[i].source(v);
      if (at < 0)
        continue;
      if (i != 0)
        bytes.append(separator.data(), separator.size());
      const auto part = call.inputs[i].data->string(static_cast<size_t>(at));
      bytes.append(part.data(), part.size());
    }
    borders.push_back(static_cast<int64_t>(bytes.size()));
  }
  return strings_with_shapes_of(to, call.rows, borders.finish(), bytes.finish());
}

column run_reduce_join(const op_call& call) {
  const auto& in = *call.inputs[0].data;
  column_builder out{dtype::string, call.rows};
  const auto nothing = shape_of_nothing(call.node.spec, in.rank() == 0 ? 0 : in.rank() - 1);
  for (size_t r = 0; r < call.rows; ++r) {
    const auto row = in.shape_of(r);
    if (row.is_scalar() && !call.skips(r))
      call.fail(r, invalid_argument("a scalar has no axis to join along"));
    if (row.is_scalar() || call.skips(r)) {
      out.end_row_of_nothing(nothing);
      continue;
    }
    const auto width = row[row.rank() - 1];
    const shape dims{std::vector<int64_t>{row.dims().begin(), row.dims().end() - 1}};
    auto at = static_cast<size_t>(in.first_value(r));
    for (auto left = *dims.elements(); left > 0; --left) {
      for (int64_t i = 0; i < width; ++i) {
        if (i != 0)
          out.append_bytes(call.node.attrs.text);
        out.append_bytes(in.string(at++));
      }
      out.end_string();
    }
    out.end_row(dims);
  }
  return std::move(out).finish();
}

column run_to_number(const op_call& call) {
  const auto& in = *call.inputs[0].data;
  const auto type = call.node.spec.type;
  mutable_buffer out{static_cast<size_t>(in.total_values()) * size_of(type)};
  visit_plain(type, [&]<class T>(T) {
    if constexpr (dtype_of<T> != dtype::boolean && !is_complex(dtype_of<T>)) {
      auto* to = out.as<T>().data();
      for (size_t r = 0; r < call.rows; ++r) {
        const auto first = static_cast<size_t>(in.first_value(r));
        const auto last = static_cast<size_t>(in.first_value(r + 1));
        bool failed = call.skips(r);
        for (auto i = first; i < last; ++i) {
          to[i] = T{};
          if (failed)
            continue;
          if (auto why = text::parse_number(in.string(i), to[i]); !why) {
            call.fail(r, why);
            failed = true;
          }
        }
      }
    }
  });
  return with_shapes_of(in, type, std::move(out).freeze());
}

column run_as_string(const op_call& call) {
  const auto& in = *call.inputs[0].data;
  buffer_builder borders, bytes;
  borders.push_back(int64_t{0});
  visit_plain(in.type(), [&]<class T>(T) {
    if constexpr (!is_complex(dtype_of<T>)) {
      for (auto x : in.values<T>()) {
        char digits[text::longest_number];
        bytes.append(digits, text::print_number(x, digits));
        borders.push_back(static_cast<int64_t>(bytes.size()));
      }
    }
  });
  return strings_with_shapes_of(in, borders.finish(), bytes.finish());
}

bool compare(expr_op op, std::string_view a, std::string_view b) {
  switch (op) {
  case expr_op::equal: return a == b;
  case expr_op::not_equal: return a != b;
  case expr_op::less: return a < b;
  case expr_op::less_equal: return a <= b;
  case expr_op::greater: return a > b;
  default: return a >= b;
  }
}

} // namespace

column run_compare(const op_call& call) {
  const auto to = align(call);
  operand_reader left{to, 0, *call.inputs[0].data}, right{to, 1, *call.inputs[1].data};
  mutable_buffer out{static_cast<size_t>(to.total)};
  auto flags = out.as<bool>();
  for (int64_t v = 0; v < to.total; ++v) {
    const auto a = left.source(v), b = right.source(v);
    flags[static_cast<size_t>(v)] =
      a >= 0 && b >= 0
      && compare(call.node.op, call.inputs[0].data->string(static_cast<size_t>(a)),
                 call.inputs[1].data->string(static_cast<size_t>(b)));
  }
  return to.make(dtype::boolean, call.rows, std::move(out).freeze());
}

column run_where(const op_call& call) {
  const auto to = align(call);
  operand_reader condition{to, 0, *call.inputs[0].data};
  operand_reader branches[2] = {{to, 1, *call.inputs[1].data}, {to, 2, *call.inputs[2].data}};
  const auto flags = call.inputs[0].data->values<bool>();
  buffer_builder borders, bytes;
  borders.push_back(int64_t{0});
  for (int64_t v = 0; v < to.total; ++v) {
    const auto c = condition.source(v);
    const size_t branch = c >= 0 && flags[static_cast<size_t>(c)] ? 0 : 1;
    if (const auto at = branches[branch].source(v); at >= 0) {
      const auto chosen = call.inputs[1 + branch].data->string(static_cast<size_t>(at));
      bytes.append(chosen.data(), chosen.size());
    }
    borders.push_back(static_cast<int64_t>(bytes.size()));
  }
  return strings_with_shapes_of(to, call.rows, borders.finish(), bytes.finish());
}

namespace {

status check_read(const library_operands& in) {
  if (kinds::is_real(in.type))
    return {};
  return invalid_argument(
    fmt::format("cannot read {}; integers and floats can be", to_string(in.type)));
}

} // namespace

std::span<const library_function> string_functions() {
  constexpr size_t any_number = SIZE_MAX;
  static constexpr operand_rule texts{.takes = kinds::text};
  static constexpr operand_rule lengths{.takes = kinds::text, .type = gives::int32};
  static constexpr operand_rule parts{.takes = kinds::text, .dims = of_first<shape_rules::split>};
  static constexpr operand_rule joined{.takes = kinds::text,
                                       .dims = of_first<shape_rules::without_last_axis>};
  static constexpr operand_rule read{
    .takes = kinds::text, .type = gives::asked, .check = check_read};
  static constexpr operand_rule printed{.takes = kinds::printable, .type = gives::string};
  static constexpr library_function functions[] = {
    {expr_op::string_length, "strings.length", 1, 1, infer_by<lengths>, run_length},
    {expr_op::string_upper, "strings.upper", 1, 1, infer_by<texts>, run_case},
    {expr_op::string_lower, "strings.lower", 1, 1, infer_by<texts>, run_case},
    {expr_op::string_strip, "strings.strip", 1, 1, infer_by<texts>, run_strip},
    {expr_op::string_split, "strings.split", 1, 1, infer_by<parts>, run_split},
    {expr_op::string_join, "strings.join", 1, any_number, infer_by<texts>, run_join},
    {expr_op::string_reduce_join, "strings.reduce_join", 1, 1, infer_by<joined>, run_reduce_join},
    {expr_op::to_number, "strings.to_number", 1, 1, infer_by<read>, run_to_number},
    {expr_op::as_string, "strings.as_string", 1, 1, infer_by<printed>, run_as_string},
  };
  return functions;
}

} // namespace headrace::detail
