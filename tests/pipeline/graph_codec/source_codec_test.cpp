#include "headrace/pipeline/graph_codec/graph_codec.hpp"
#include "tests/pipeline/sources/source_rows.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>

namespace headrace::detail {
namespace {

using test::files;

/// Sources of many kinds, most of them with parameters that are not the defaults.
std::vector<dataset_ptr> sample_sources() {
  const std::vector<field_format> named{field("a", dtype::int64), field("b", 0.5F),
                                        field("c", "none"), field("d", true)};
  auto tensor = field("e", tensor_spec{dtype::string, {shape::unknown, 2}});
  tensor.missing =
    column::of_strings(std::vector<std::string_view>{"x", "y"}).reshaped(shape{1, 2}, 1);
  return {
    make_fixed_length(files({"x", "y"}), {7, 5, 3}, file_compression::zlib).value(),
    make_csv(
      files({"x"}), named,
      {.header = true, .delimiter = ';', .quotes = false, .na_value = "NA", .select = {0, 2, 5, 9}},
      file_compression::gzip)
      .value(),
    make_csv(files({"x"}), {field("", dtype::float16)}).value(),
    make_csv(files({"x"}), {field(std::string{"g\0h", 3}, dtype::float16)},
             {.na_value = std::string{"N\0A", 3}})
      .value(),
    make_json_lines(files({"x"}), {tensor, field("f", dtype::boolean)}, file_compression::gzip)
      .value(),
    make_sql("sqlite", expr{"file"}.node(), expr{"select 1"}.node(), {field("", uint8_t{3})})
      .value(),
    make_tar_samples(files({"x"}), {"jpg;jpeg", "cls"}, true).value(),
    make_counter(-5, 3).value(),
    make_random(7, true).value(),
    make_random().value(),
    make_generator({"name"},
                   element_spec::named({"n"}, {tensor_spec{dtype::float32, {shape::unknown}}}), 9)
      .value(),
    make_generator({"name"}, tensor_spec{dtype::int8, {}}).value(),
    make_generator({"python", "label", "program"}, tensor_spec{dtype::int8, {}}, -1, false).value(),
  };
}

bool same(std::span<const field_format> a, std::span<const field_format> b) {
  return std::ranges::equal(a, b, [](const field_format& x, const field_format& y) {
    if (x.name != y.name || x.spec != y.spec || x.missing.has_value() != y.missing.has_value())
      return false;
    return !x.missing
           || test::row_text({{*x.missing}, 1, {}, {}}, 0)
                == test::row_text({{*y.missing}, 1, {}, {}}, 0);
  });
}

#define SAME_IF_THERE(member)                                                                      \
  if constexpr (requires { a.member; })                                                            \
    if (!(a.member == b.member))                                                                   \
      return false;

/// True if two operators have equal parameters, apart from the fields of the records they read.
template <class T>
bool same_parameters(const T& a, const T& b) {
  SAME_IF_THERE(compression)
  SAME_IF_THERE(shuffle)
  SAME_IF_THERE(seed)
  SAME_IF_THERE(layout)
  SAME_IF_THERE(format)
  SAME_IF_THERE(driver)
  SAME_IF_THERE(skip_incomplete)
  SAME_IF_THERE(start)
  SAME_IF_THERE(step)
  SAME_IF_THERE(reseed)
  SAME_IF_THERE(function)
  SAME_IF_THERE(count)
  SAME_IF_THERE(deterministic)
  return true;
}

bool same(const dataset_node& a, const dataset_node& b) {
  return a.op == b.op && a.parameters.index() == b.parameters.index()
         && std::visit(
           [&]<class T>(const T& own) { return same_parameters(own, std::get<T>(b.parameters)); },
           a.parameters)
         && same(fields_of(a), fields_of(b)) && a.spec == b.spec && a.cardinality == b.cardinality
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
} // namespace headrace::detail
