#include "headrace/pipeline/graph_codec/graph_codec.hpp"

#include "headrace/pipeline/functions/io.hpp"
#include "headrace/pipeline/functions/strings.hpp"
#include "tests/pipeline/support/rows.hpp"
#include "tests/support/paths.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <random>

namespace headrace::detail {
namespace {

using test::range;
using test::read_all;
using test::traced;
using testing::HasSubstr;

/// Graphs of many operators, most of them with parameters that are not the defaults.
std::vector<dataset_ptr> sample_graphs() {
  std::vector<dataset_ptr> out;
  auto in = range(-3, 30);
  out.push_back(in);
  out.push_back(make_map(in,
                         traced(in,
                                [](expr x) {
                                  return std::pair{x * 3, x > 4};
                                }),
                         2)
                  .value());
  auto shared = make_shuffle(make_skip(in, 4).value(), 7, 5, false).value();
  out.push_back(make_zip({shared, make_enumerate(shared, 3).value()}).value());
  auto nested = traced(in, [](expr a) {
    auto middle = range(0, 3);
    auto inner = make_map(middle, traced(middle, [a](expr b) { return a * 10 + b; })).value();
    return make_take(make_repeat(inner).value(), 4).value();
  });
  out.push_back(make_flat_map(in, nested).value());
  out.push_back(make_interleave(in, nested, 3, 2, -1).value());
  const auto counted = traced(in, [](expr a) {
    const auto& n = a.node();
    auto rows = make_repeat(make_take(make_skip(range(0, 9), n).value(), n).value(), n).value();
    rows = make_padded_batch(make_shuffle(rows, n, 5).value(), n, {}, {}, true, n).value();
    return make_ragged_batch(make_batch(make_sleep(rows, n).value(), n).value(), n).value();
  });
  out.push_back(make_flat_map(in, counted).value());
  out.push_back(
    make_prefetch(
      make_batch(make_filter(in, traced(in, [](expr x) { return x % 2 == 0; })).value(), 4, true)
        .value(),
      3)
      .value());
  out.push_back(make_concatenate(in, make_repeat(in, 2).value()).value());
  auto odd = traced(in, [](expr x) { return x % 2 == 1; });
  out.push_back(make_options(make_filter(in, odd, 3).value(), {.deterministic = true,
                                                               .autotune = false,
                                                               .threads = 2,
                                                               .memory = 1 << 20,
                                                               .compression = compression::snappy})
                  .value());
  out.push_back(make_global_shuffle(in, 7, false).value());
  auto files =
    make_list_files(
      string_constant(std::vector<std::string>{test::data_path("digits/digits-0000*")}), true, 9)
      .value();
  auto records =
    make_interleave(files, traced(files, [](expr x) { return make_tfrecord(x.node()).value(); }), 4)
      .value();
  auto parsed =
    make_map(records,
             traced(records,
                    [](expr x) {
                      return io::parse_example(
                        x, {io::fixed_len_feature("image", {}, dtype::string),
                            io::fixed_len_feature("label", {}, dtype::int64, expr{int64_t{7}})});
                    }))
      .value();
  out.push_back(make_take(make_map(parsed, traced(parsed,
                                                  [](expr_structure r) {
                                                    return std::pair{
                                                      io::decode_raw(r["image"], dtype::uint8)
                                                        .slice({at::range(0, 60, 3)}),
                                                      reduce_sum(cast<float>(r["label"]))};
                                                  }))
                            .value(),
                          20)
                  .value());
  auto text =
    make_text_lines(string_constant(std::vector<std::string>{test::data_path("digits/digits.csv")}))
      .value();
  out.push_back(
    make_take(
      make_map(text, traced(text, [](expr x) { return strings::upper(strings::split(x, ","))[0]; }))
        .value(),
      5)
      .value());
  out.push_back(
    make_from_tensors({scalar_constant(1), string_constant(std::vector<std::string>{"a", "b"})},
                      structure::named({"n", "s"}, {{}, {}}))
      .value());
  auto small = make_take_while(in, traced(in, [](expr x) { return x < 9; })).value();
  out.push_back(make_assert_cardinality(make_unique_elements(small).value(), 12).value());
  out.push_back(make_shard(make_ignore_errors(in).value(), 5, 2).value());
  out.push_back(make_sleep(in, 3).value());
  for (bool ordered : {false, true})
    out.push_back(make_map(in, traced(in, [](expr x) { return x + 1; }), 2, ordered).value());
  const int64_t pad = -7;
  out.push_back(make_padded_batch(make_batch(in, 4).value(), 3, {shape{6}},
                                  {column::of_scalars(std::span<const int64_t>{&pad, 1})}, true)
                  .value());
  auto windows = make_window(make_enumerate(in).value(), 3, 2, 2).value();
  out.push_back(make_flat_map(windows, traced(windows,
                                              [](expr_structure both) {
                                                return make_batch(elements_of(both), 2).value();
                                              }))
                  .value());
  out.push_back(make_choose_from(shared, {in, small}, false).value());
  out.push_back(make_sample_from({in, shared}, {1, 2.5}, 3, true, true).value());
  auto sum = std::make_shared<const function>(
    trace(element_spec::tuple({in->spec, in->spec}), [](expr sum, expr x) {
      return std::pair{sum + x, sum};
    }));
  out.push_back(make_scan(in, {scalar_constant(4)}, sum).value());
  return out;
}

TEST(GraphCodec, GraphsComeBackTheSame) {
  for (const auto& graph : sample_graphs()) {
    auto bytes = encode_graph(graph).value();
    auto back = decode_graph(bytes);
    ASSERT_TRUE(back.ok()) << to_string(back.status());
    EXPECT_EQ((*back)->spec, graph->spec);
    EXPECT_EQ((*back)->cardinality, graph->cardinality);
    EXPECT_EQ(fingerprint(*back).value(), fingerprint(graph).value());
    EXPECT_EQ(read_all(*back), read_all(graph));
  }
}

TEST(GraphCodec, SharedNodesStayShared) {
  auto in = range(0, 3);
  auto back = decode_graph(encode_graph(make_zip({in, in, range(0, 3)}).value()).value()).value();
  EXPECT_EQ(back->inputs[0], back->inputs[1]);
  EXPECT_NE(back->inputs[0], back->inputs[2]);
}

TEST(GraphCodec, AFingerprintTellsGraphsApartAndEqualOnesNot) {
  const auto name = [](int64_t k) {
    auto in = range(0, 3);
    return fingerprint(make_map(in, traced(in, [k](expr x) { return x + k; })).value()).value();
  };
  EXPECT_EQ(name(1), name(1));
  EXPECT_NE(name(1), name(2));
  EXPECT_EQ(name(1).size(), 64u);
}

TEST(GraphCodec, ServicesAndNamedFunctionsComeBack) {
  auto in = range(0, 3);
  auto f = std::make_shared<function>();
  f->argument = in->spec;
  f->named = {"python", "double", std::string{"\0\xff", 2}};
  f->deterministic = true;
  f->declared = element_spec::tuple({in->spec, tensor_spec{dtype::float32, {2, shape::unknown}}});
  service_options service{.address = "here:1",
                          .processing_mode = sharding_policy::dynamic,
                          .job_name = "j",
                          .max_outstanding_requests = 5,
                          .compression = compression::snappy,
                          .worker_timeout_ns = 7,
                          .stall_timeout_ns = 8};
  auto graph = make_distribute(make_map(in, f).value(), service).value();
  auto back = decode_graph(encode_graph(graph).value()).value();
  EXPECT_EQ(back->as<service_options>(), service);
  EXPECT_EQ(back->spec, f->declared);
  EXPECT_EQ(back->inputs[0]->body->named, f->named);
  EXPECT_TRUE(back->inputs[0]->body->deterministic);
  service.dataset_id = "id";
  graph = make_distribute(f->declared, infinite_cardinality, service).value();
  back = decode_graph(encode_graph(graph).value()).value();
  EXPECT_EQ(back->spec, f->declared);
  EXPECT_EQ(back->cardinality, infinite_cardinality);
}

TEST(GraphCodec, SpecsComeBack) {
  for (const auto& spec :
       {element_spec{tensor_spec{dtype::bfloat16, shape::unknown_rank()}},
        element_spec::named({"a", "b"},
                            {element_spec{tensor_spec{dtype::string, {shape::unknown, 3}}},
                             element_spec::tuple({})})})
    EXPECT_EQ(decode_spec(encode_spec(spec)).value(), spec);
}

TEST(GraphCodec, KeepsTextsWithAZeroInside) {
  const std::string a{"x\0a", 3}, b{"x\0b", 3};
  const element_spec leaf{tensor_spec{dtype::int8, {}}};
  auto spec = element_spec::named({a, b}, {leaf, leaf});
  spec.layout = spec.layout.labelled(a);
  const auto back = decode_spec(encode_spec(spec)).value();
  EXPECT_EQ(back, spec);
  EXPECT_EQ(back.layout.names(), (std::vector{a, b}));
  EXPECT_EQ(back.layout.label(), a);
  const auto job = [](const std::string& name) {
    return make_distribute(range(0, 3), {.address = "here:1", .job_name = name}).value();
  };
  EXPECT_EQ(decode_graph(encode_graph(job(a)).value()).value()->as<service_options>().job_name, a);
  EXPECT_NE(fingerprint(job(a)).value(), fingerprint(job(b)).value());
}

TEST(GraphCodec, ConstantsBeyondTheBoundAreRefused) {
  std::vector<int64_t> many(most_graph_constants / 8 + 1);
  auto graph = make_from_tensors({constant(many).node()}).value();
  EXPECT_THAT(to_string(encode_graph(graph).status()), HasSubstr("read larger tensors from files"));
}

TEST(GraphCodec, GraphsThatWouldNeverEndToRunAreRefused) {
  auto graph = range(0, 1);
  for (int i = 0; i < 20; ++i) graph = make_concatenate(graph, graph).value();
  EXPECT_THAT(to_string(decode_graph(encode_graph(graph).value()).status()),
              HasSubstr("more than 65536 run"));
  graph = range(0, 1);
  for (int i = 0; i < 300; ++i) graph = make_skip(graph, 0).value();
  EXPECT_THAT(to_string(decode_graph(encode_graph(graph).value()).status()),
              HasSubstr("more than 256 operators deep"));
}

TEST(GraphCodec, GraphsMayHaveThousandsOfFunctions) {
  std::vector<dataset_ptr> parts;
  for (int64_t i = 0; i < 3'000; ++i) {
    const auto one = range(i, i + 1);
    parts.push_back(make_map(one, traced(one, [](expr x) { return x * 2; })).value());
  }
  const auto graph = make_zip(parts).value();
  const auto back = decode_graph(encode_graph(graph).value());
  ASSERT_EQ(to_string(back.status()), "ok");
  EXPECT_EQ(read_all(*back), read_all(graph));
}

TEST(GraphCodec, AParameterOutsideOfItsFunctionIsRefused) {
  auto in = range(0, 3);
  expr_ptr leaked;
  auto f = traced(in, [&](expr x) {
    leaked = x.node();
    return x;
  });
  auto graph = make_zip({make_map(in, f).value(), make_from_tensors({leaked}).value()}).value();
  EXPECT_THAT(to_string(decode_graph(encode_graph(graph).value()).status()),
              HasSubstr("a parameter of function 0 is used outside of that function"));
}

TEST(GraphCodec, SurvivesMutants) {
  std::mt19937_64 random{7};
  size_t accepted = 0;
  for (const auto& graph : sample_graphs()) {
    const auto bytes = encode_graph(graph).value();
    const std::string whole{reinterpret_cast<const char*>(bytes.data()), bytes.size()};
    for (size_t i = 0; i < 1500; ++i) {
      auto mutant = whole;
      for (size_t n = 1 + random() % 3; n != 0; --n)
        mutant[random() % mutant.size()] ^= static_cast<char>(1 << random() % 8);
      if (random() % 8 == 0)
        mutant.resize(random() % mutant.size() / 8 * 8);
      if (auto back = decode_graph(buffer::copy_of(mutant.data(), mutant.size()))) {
        ++accepted;
        EXPECT_TRUE(encode_graph(*back).ok());
      }
    }
  }
  EXPECT_GT(accepted, 0u);
}

} // namespace
} // namespace headrace::detail
