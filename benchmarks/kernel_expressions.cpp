#include "benchmarks/kernel_cases.hpp"

namespace headrace::detail::bench {

namespace {

/// Maps `f` over the elements of `in`. `functions`: the number of functions of which `f` consists.
/// Each of these may take one kernel call for each block. A kernel that combines several
/// elementwise functions counts as one call for each of them.
template <class F>
kernel_case of(std::string name, const dataset& in, F f, uint64_t functions = 1) {
  return {"expression_" + std::move(name), [in, f] { return in.map(f); }, functions};
}

} // namespace

std::vector<kernel_case> expression_cases(const std::string& data) {
  const auto numbers = dataset::range(2000);
  const auto floats = numbers.map([](expr x) { return cast<float>(x); });
  const auto vectors = dataset::range(20'000).batch(10);
  const auto matrices = vectors.map([](expr x) { return reshape(x, {2, 5}); });
  const auto lines = dataset::text_lines(std::vector{data + "/digits/digits.csv"}).skip(1);
  const auto spelled = numbers.map([](expr x) { return strings::as_string(x); });
  const auto records =
    dataset::tfrecord(std::vector{data + "/digits/digits-00001-of-00004.tfrecord"});
  const auto examples = [](expr record) {
    return io::parse_example(record, {io::fixed_len_feature("image", {}, dtype::string),
                                      io::fixed_len_feature("label", {}, dtype::int64)});
  };
  const auto variable = [](expr record) {
    return io::parse_example(record, {io::var_len_feature("label", dtype::int64)});
  };
  return {
    of(
      "arithmetic", numbers, [](expr x) { return (x * 3 + 1) % 7 - x; }, 4),
    of(
      "logic", numbers, [](expr x) { return (x > 10 && x < 500) || x == 7; }, 5),
    of(
      "where", numbers, [](expr x) { return where(x < 500, x, -x); }, 3),
    of("cast", numbers, [](expr x) { return cast<float>(x); }),
    of("cast_float16", floats, [](expr x) { return cast<float16>(x); }),
    of(
      "float_chain", floats, [](expr x) { return sqrt(abs(x * 0.5f - 3.0f)) + tanh(x); }, 6),
    of("reduce_sum", vectors, [](expr x) { return reduce_sum(x); }),
    of(
      "reduce_mean", matrices, [](expr x) { return reduce_mean(cast<float>(x), {1}); }, 2),
    of("reduce_max", matrices, [](expr x) { return reduce_max(x, {0}); }),
    of("argmax", vectors, [](expr x) { return argmax(x); }),
    of("reshape", vectors,
       [](expr x) {
         return reshape(x, {5, 2});
       }),
    of("transpose", matrices, [](expr x) { return transpose(x); }),
    of("index", vectors, [](expr x) { return x[3]; }),
    of("slice", vectors, [](expr x) { return x.slice(2, 9, 3); }),
    of("gather", vectors,
       [](expr x) {
         return gather(x, constant(std::vector<int64_t>{7, 1, 1}));
       }),
    of("stack", numbers,
       [](expr x) {
         return stack({x, x, x});
       }),
    of("concat", vectors,
       [](expr x) {
         return concat({x, x}, 0);
       }),
    of("fill", numbers, [](expr x) { return fill({4}, x); }),
    of("pad", vectors,
       [](expr x) {
         return pad(x, {{1, 2}});
       }),
    of("one_hot", numbers, [](expr x) { return one_hot(x, 10); }),
    of("sort", vectors, [](expr x) { return sort(x); }),
    of("string_length", lines, [](expr x) { return strings::length(x); }),
    of("string_upper", lines, [](expr x) { return strings::upper(x); }),
    of("string_lower", lines, [](expr x) { return strings::lower(x); }),
    of("string_strip", lines, [](expr x) { return strings::strip(x); }),
    of("string_substr", lines, [](expr x) { return strings::substr(x, 1, 5); }),
    of("string_split", lines, [](expr x) { return strings::split(x, ","); }),
    of("string_join", lines,
       [](expr x) {
         return strings::join({x, x}, "-");
       }),
    of("string_regex", lines, [](expr x) { return strings::regex_replace(x, "0,", "-"); }),
    of("string_hash", lines, [](expr x) { return strings::to_hash_bucket_fast(x, 100); }),
    of("to_number", spelled, [](expr x) { return strings::to_number<int64_t>(x); }),
    of("as_string", numbers, [](expr x) { return strings::as_string(x); }),
    of("decode_raw", records, [](expr x) { return io::decode_raw<uint8_t>(x); }),
    of("parse_example", records, examples, 2),
    of("parse_variable", records, variable),
    // A batch of features with any number of values, padded to the longest of them.
    {"sparse_batch", [records, variable] { return records.map(variable).padded_batch(10); }, 1},
  };
}

} // namespace headrace::detail::bench
