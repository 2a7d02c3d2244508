#include "headrace/pipeline/functions/operations/string_columns.hpp"
#include "headrace/pipeline/functions/representation/expression_makers.hpp"
#include "headrace/pipeline/functions/representation/library.hpp"
#include "headrace/pipeline/kernels/string_scalar.hpp"

#include <farmhash.h>
#include <fmt/format.h>
#include <re2/re2.h>
#include <unicode/ucasemap.h>

namespace headrace::detail {

namespace {

using prepared = result<std::shared_ptr<const void>>;

status check_text(const tensor_spec& x) {
  if (x.type != dtype::string)
    return invalid_argument(fmt::format("an operand is {}; it must be strings", to_string(x)));
  return {};
}

template <dtype Type>
result<tensor_spec> infer_each(const library_operands& in) {
  HEADRACE_TRY(check_text(in[0]));
  return tensor_spec{Type, in[0].dims};
}

bool continues(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

int64_t count_chars(std::string_view x) {
  int64_t n = 0;
  for (auto c : x) n += continues(c) ? 0 : 1;
  return n;
}

// -- regular expressions -------------------------------------------------------

prepared prepare_regex(const expr_node& node) {
  const bool replaces = node.op == expr_op::regex_replace;
  const auto& pattern = replaces ? node.attrs.texts[0] : node.attrs.text;
  RE2::Options options;
  options.set_log_errors(false);
  auto regex = std::make_shared<RE2>(pattern, options);
  if (!regex->ok())
    return invalid_argument(fmt::format("pattern '{}': {}", pattern, regex->error()));
  std::string why;
  if (replaces && !regex->CheckRewriteString(node.attrs.texts[1], &why))
    return invalid_argument(fmt::format("rewrite '{}': {}", node.attrs.texts[1], why));
  return std::shared_ptr<const void>{std::move(regex)};
}

const RE2& regex_of(const op_call& call) {
  return *static_cast<const RE2*>(call.node.prepared.get());
}

result<tensor_spec> infer_replace(const library_operands& in) {
  if (in.attrs.texts.size() != 2)
    return invalid_argument("a pattern and a rewrite are needed");
  return infer_each<dtype::string>(in);
}

column run_match(const op_call& call) {
  const auto& regex = regex_of(call);
  return measure_strings<bool>(*call.inputs[0].data, [&](std::string_view x) {
    return RE2::FullMatch({x.data(), x.size()}, regex);
  });
}

column run_replace(const op_call& call) {
  const auto& regex = regex_of(call);
  const auto& rewrite = call.node.attrs.texts[1];
  std::string text;
  return change_strings(*call.inputs[0].data, [&](std::string_view x, buffer_builder& bytes) {
    text.assign(x);
    if (call.node.attrs.flag)
      RE2::GlobalReplace(&text, regex, rewrite);
    else
      RE2::Replace(&text, regex, rewrite);
    bytes.append(text.data(), text.size());
  });
}

// -- parts and lengths ---------------------------------------------------------

column run_unicode_length(const op_call& call) {
  return measure_strings<int32_t>(
    *call.inputs[0].data, [](std::string_view x) { return static_cast<int32_t>(count_chars(x)); });
}

result<tensor_spec> infer_substring(const library_operands& in) {
  HEADRACE_TRY(check_text(in[0]));
  for (const auto i : {size_t{1}, size_t{2}})
    if (in[i].type != dtype::int64)
      return invalid_argument(
        fmt::format("position and length are {}; they must be int64", to_string(in[i])));
  auto dims = in[0].dims;
  for (const auto i : {size_t{1}, size_t{2}}) {
    auto both = broadcast(dims, in[i].dims);
    if (!both)
      return invalid_argument(
        fmt::format("shapes {} and {} do not broadcast", to_string(dims), to_string(in[i].dims)));
    dims = *std::move(both);
  }
  return tensor_spec{dtype::string, std::move(dims)};
}

/// The offset of character `n`. Each byte that is no continuation byte begins a character.
size_t char_begin(std::string_view x, int64_t n) {
  size_t at = 0;
  for (; at < x.size(); ++at)
    if (!continues(x[at]) && n-- == 0)
      break;
  return at;
}

result<std::string_view> part_of(std::string_view x, int64_t position, int64_t length, bool chars) {
  const auto size = chars ? count_chars(x) : static_cast<int64_t>(x.size());
  if (position < -size || position > size)
    return invalid_argument(fmt::format("position {} in a string of {} {}", position, size,
                                        chars ? "characters" : "bytes"));
  if (length < 0)
    return invalid_argument(fmt::format("a length of {}; it must not be negative", length));
  const auto first = position < 0 ? position + size : position;
  const auto count = std::min(length, size - first);
  if (chars) {
    const auto rest = x.substr(char_begin(x, first));
    return rest.substr(0, char_begin(rest, count));
  }
  return x.substr(static_cast<size_t>(first), static_cast<size_t>(count));
}

column run_substring(const op_call& call) {
  const auto to = align(call);
  std::vector<operand_reader> readers;
  for (size_t i = 0; i < 3; ++i) readers.emplace_back(to, i, *call.inputs[i].data);
  const auto numbers = [&](size_t i, int64_t at) {
    return call.inputs[i].data->values<int64_t>()[static_cast<size_t>(at)];
  };
  buffer_builder borders, bytes;
  borders.push_back(int64_t{0});
  for (size_t r = 0; r < call.rows; ++r) {
    bool failed = call.skips(r);
    for (auto v = to.first_value(r); v < to.first_value(r + 1); ++v) {
      const auto text = readers[0].source(v), position = readers[1].source(v),
                 length = readers[2].source(v);
      if (!failed && text >= 0 && position >= 0 && length >= 0) {
        const auto part = part_of(call.inputs[0].data->string(static_cast<size_t>(text)),
                                  numbers(1, position), numbers(2, length), call.node.attrs.flag);
        if (part) {
          bytes.append(part->data(), part->size());
        } else {
          call.fail(r, part.status());
          failed = true;
        }
      }
      borders.push_back(static_cast<int64_t>(bytes.size()));
    }
  }
  return strings_with_shapes_of(to, call.rows, borders.finish(), bytes.finish());
}

// -- case ----------------------------------------------------------------------

prepared prepare_case(const expr_node&) {
  UErrorCode why = U_ZERO_ERROR;
  // The root locale is used, so that the mapping is the same on every machine.
  auto* map = ucasemap_open("", 0, &why);
  if (U_FAILURE(why))
    return internal_error(fmt::format("no case mapping: {}", u_errorName(why)));
  return std::shared_ptr<const void>{std::shared_ptr<UCaseMap>{map, ucasemap_close}};
}

column run_unicode_case(const op_call& call) {
  const auto* map = static_cast<const UCaseMap*>(call.node.prepared.get());
  const auto change =
    call.node.op == expr_op::unicode_upper ? ucasemap_utf8ToUpper : ucasemap_utf8ToLower;
  return change_strings(*call.inputs[0].data, [&](std::string_view x, buffer_builder& bytes) {
    const auto begin = bytes.size();
    // A character becomes at most three characters. If there is too little room, `change` returns
    // the number of bytes that it needs.
    const auto room = std::min<size_t>(x.size() * 3 + 8, INT32_MAX);
    for (auto capacity = room;;) {
      UErrorCode why = U_ZERO_ERROR;
      const auto n =
        change(map, reinterpret_cast<char*>(bytes.extend(capacity)), static_cast<int32_t>(capacity),
               x.data(), static_cast<int32_t>(x.size()), &why);
      bytes.truncate(begin + (U_SUCCESS(why) ? static_cast<size_t>(n) : 0));
      if (why != U_BUFFER_OVERFLOW_ERROR)
        return;
      capacity = static_cast<size_t>(n) + 1;
    }
  });
}

// -- hashes --------------------------------------------------------------------

result<tensor_spec> infer_hash(const library_operands& in) {
  if (in.attrs.dims.size() != 1 || in.attrs.dims[0] < 1)
    return invalid_argument("the number of buckets must be 1 or more");
  return infer_each<dtype::int64>(in);
}

column run_hash(const op_call& call) {
  const auto buckets = static_cast<uint64_t>(call.node.attrs.dims[0]);
  return measure_strings<int64_t>(*call.inputs[0].data, [&](std::string_view x) {
    return static_cast<int64_t>(util::Fingerprint64(x.data(), x.size()) % buckets);
  });
}

// -- split and n-grams ---------------------------------------------------------

result<tensor_spec> infer_split_padded(const library_operands& in) {
  HEADRACE_TRY(check_text(in[0]));
  if (in.attrs.dims.size() != 1 || in.attrs.dims[0] < 0 || in.attrs.dims[0] > (1 << 30))
    return invalid_argument("the number of parts must be in [0, 2^30]");
  if (in.attrs.texts.size() != 1)
    return invalid_argument("a filler is needed");
  if (!in[0].dims.has_rank())
    return tensor_spec{dtype::string, shape::unknown_rank()};
  std::vector<int64_t> dims{in[0].dims.dims().begin(), in[0].dims.dims().end()};
  dims.push_back(in.attrs.dims[0]);
  return tensor_spec{dtype::string, shape{std::move(dims)}};
}

column run_split_padded(const op_call& call) {
  const auto& attrs = call.node.attrs;
  return run_rows(call, [&](size_t r, const shape& dims, column_builder& out) -> status {
    const auto& in = *call.inputs[0].data;
    const auto row = call.inputs[0].row(r);
    for (auto v = in.first_value(row); v < in.first_value(row + 1); ++v) {
      int64_t parts = 0;
      text::split(in.string(static_cast<size_t>(v)), attrs.text, [&](std::string_view part) {
        if (parts < attrs.dims[0])
          out.add_string(part);
        ++parts;
      });
      for (; parts < attrs.dims[0]; ++parts) out.add_string(attrs.texts[0]);
    }
    out.end_row(dims);
    return {};
  });
}

/// The number of pads at each end for n-grams of `width`.
int64_t pads_for(const expr_attrs& attrs, int64_t width) {
  if (attrs.texts.empty())
    return 0;
  return attrs.index < 0 ? width - 1 : std::min(attrs.index, width - 1);
}

int64_t count_ngrams(const expr_attrs& attrs, int64_t strings) {
  int64_t n = 0;
  if (strings == 0)
    return 0;
  for (auto width : attrs.dims)
    n += std::max<int64_t>(0, strings + 2 * pads_for(attrs, width) - width + 1);
  return n == 0 && attrs.flag ? 1 : n;
}

result<tensor_spec> infer_ngrams(const library_operands& in) {
  HEADRACE_TRY(check_text(in[0]));
  if (in.attrs.dims.empty())
    return invalid_argument("at least one width is needed");
  for (auto width : in.attrs.dims)
    if (width < 1 || width > (1 << 20))
      return invalid_argument(fmt::format("a width of {}; it must be in [1, 2^20]", width));
  if (in.attrs.texts.size() != 0 && in.attrs.texts.size() != 2)
    return invalid_argument("pads come in pairs");
  if (in[0].dims.is_scalar())
    return invalid_argument("a scalar has no axis to go along");
  if (!in[0].dims.has_rank())
    return in[0];
  std::vector<int64_t> dims{in[0].dims.dims().begin(), in[0].dims.dims().end()};
  if (dims.back() != shape::unknown)
    dims.back() = count_ngrams(in.attrs, dims.back());
  return tensor_spec{dtype::string, shape{std::move(dims)}};
}

/// Writes the n-grams of one sequence of strings.
class ngram_writer {
public:
  ngram_writer(column_builder& out, const expr_attrs& attrs, const column& in, int64_t first,
               int64_t strings)
    : out_(out), attrs_(attrs), in_(in), first_(first), strings_(strings) {}

  void write() {
    int64_t written = 0;
    if (strings_ == 0)
      return;
    for (auto width : attrs_.dims) {
      const auto pads = pads_for(attrs_, width);
      for (auto at = -pads; at + width <= strings_ + pads; ++at, ++written) write(at, width);
    }
    if (written != 0 || !attrs_.flag)
      return;
    // All widths are too large, so the only n-gram consists of all strings, between the pads for
    // the first width.
    const auto pads = pads_for(attrs_, attrs_.dims[0]);
    write(-pads, strings_ + 2 * pads);
  }

private:
  void write(int64_t at, int64_t width) {
    for (auto i = at; i < at + width; ++i) {
      if (i != at)
        out_.append_bytes(attrs_.text);
      if (i < 0)
        out_.append_bytes(attrs_.texts[0]);
      else if (i >= strings_)
        out_.append_bytes(attrs_.texts[1]);
      else
        out_.append_bytes(in_.string(static_cast<size_t>(first_ + i)));
    }
    out_.end_string();
  }

  column_builder& out_;
  const expr_attrs& attrs_;
  const column& in_;
  int64_t first_, strings_;
};

column run_ngrams(const op_call& call) {
  return run_rows(call, [&](size_t r, const shape& dims, column_builder& out) -> status {
    const auto row = call.inputs[0].shape_of(r);
    const auto strings = row[row.rank() - 1];
    const auto first = call.inputs[0].first_value(r);
    const auto sequences = *shape{row.dims().first(row.rank() - 1)}.elements();
    for (int64_t s = 0; s < sequences; ++s)
      ngram_writer{out, call.node.attrs, *call.inputs[0].data, first + s * strings, strings}
        .write();
    out.end_row(dims);
    return {};
  });
}

} // namespace

std::span<const library_function> text_functions() {
  static constexpr library_function functions[] = {
    {expr_op::regex_full_match, "strings.regex_full_match", 1, 1, infer_each<dtype::boolean>,
     run_match, prepare_regex},
    {expr_op::regex_replace, "strings.regex_replace", 1, 1, infer_replace, run_replace,
     prepare_regex},
    {expr_op::substring, "strings.substr", 3, 3, infer_substring, run_substring},
    {expr_op::unicode_length, "strings.length", 1, 1, infer_each<dtype::int32>, run_unicode_length},
    {expr_op::unicode_upper, "strings.upper", 1, 1, infer_each<dtype::string>, run_unicode_case,
     prepare_case},
    {expr_op::unicode_lower, "strings.lower", 1, 1, infer_each<dtype::string>, run_unicode_case,
     prepare_case},
    {expr_op::to_hash_bucket, "strings.to_hash_bucket_fast", 1, 1, infer_hash, run_hash},
    {expr_op::ngrams, "strings.ngrams", 1, 1, infer_ngrams, run_ngrams},
    {expr_op::split_padded, "strings.split_padded", 1, 1, infer_split_padded, run_split_padded},
  };
  return functions;
}

} // namespace headrace::detail
