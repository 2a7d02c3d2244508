#include "headrace/pipeline/codec/graph_codec.hpp"
#include "tests/pipeline/sources/source_rows.hpp"

#include <gtest/gtest.h>
#include <random>

namespace headrace {
namespace {

using test::files;

/// Sources that together use every field of theirs in the codec.
std::vector<dataset_ptr> sample_sources() {
  const std::vector<field_format> named{field("a", dtype::int64), field("b", 0.5F),
                                        field("c", "none"), field("d", true)};
  auto tensor = field("e", tensor_spec{dtype::string, {shape::unknown, 2}});
  tensor.missing =
    column::of_strings(std::vector<std::string_view>{"x", "y"}).reshaped(shape{1, 2}, 1);
  return {
    make_fixed_length(files({"x", "y"}), {7, 5, 3}, "ZLIB").value(),
    make_csv(
      files({"x"}), named,
      {.header = true, .delimiter = ';', .quotes = false, .na_value = "NA", .select = {0, 2, 5, 9}},
      "GZIP")
      .value(),
    make_csv(files({"x"}), {field("", dtype::float16)}).value(),
    make_json_lines(files({"x"}), {tensor, field("f", dtype::boolean)}, "GZIP").value(),
    make_sql("sqlite", expr{"file"}.node(), expr{"select 1"}.node(), {field("", uint8_t{3})})
      .value(),
    make_tar_samples(files({"x"}), {"jpg;jpeg", "cls"}, true).value(),
    make_counter(-5, 3).value(),
    make_random(7, true).value(),
    make_random().value(),
    make_generator("name",
                   element_spec::named({"n"}, {tensor_spec{dtype::float32, {shape::unknown}}}), 9)
      .value(),
    make_generator("name", tensor_spec{dtype::int8, {}}).value(),
    make_generator("name", tensor_spec{dtype::int8, {}}, -1, true).value(),
  };
}

bool same(const dataset_node& a, const dataset_node& b) {
  if (a.fields.size() != b.fields.size())
    return false;
  for (size_t i = 0; i < a.fields.size(); ++i) {
    const auto &x = a.fields[i], &y = b.fields[i];
    if (x.name != y.name || x.spec != y.spec || x.missing.has_value() != y.missing.has_value())
      return false;
    if (x.missing
        && test::row_text({{*x.missing}, 1, {}, {}}, 0)
             != test::row_text({{*y.missing}, 1, {}, {}}, 0))
      return false;
  }
  return a.op == b.op && a.text == b.text && a.flag == b.flag && a.count == b.count
         && a.count2 == b.count2 && a.seed == b.seed && a.layout == b.layout && a.csv == b.csv
         && a.spec == b.spec && a.cardinality == b.cardinality
         && a.tensors.size() == b.tensors.size();
}

TEST(SourceCodec, SourcesComeBackTheSame) {
  for (const auto& graph : sample_sources()) {
    auto back = decode_graph(encode_graph(graph).value());
    ASSERT_TRUE(back.ok()) << to_string(back.status());
    EXPECT_TRUE(same(**back, *graph)) << to_string(graph->op);
    EXPECT_EQ(fingerprint(*back).value(), fingerprint(graph).value());
  }
}

TEST(SourceCodec, SurvivesMutants) {
  std::mt19937_64 random{7};
  for (const auto& graph : sample_sources()) {
    const auto bytes = encode_graph(graph).value();
    const std::string whole{reinterpret_cast<const char*>(bytes.data()), bytes.size()};
    for (size_t i = 0; i < 1500; ++i) {
      auto mutant = whole;
      for (size_t n = 1 + random() % 3; n != 0; --n)
        mutant[random() % mutant.size()] ^= static_cast<char>(1 << random() % 8);
      if (auto back = decode_graph(buffer::copy_of(mutant.data(), mutant.size()))) {
        EXPECT_TRUE(encode_graph(*back).ok());
      }
    }
  }
}

} // namespace
} // namespace headrace
