#include "headrace/pipeline/custom/function_registry.hpp"
#include "tests/pipeline/support/rows.hpp"
#include "tests/support/paths.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <mutex>
#include <thread>

namespace headrace::detail {
namespace {

using test::range;
using testing::ElementsAre;
using testing::HasSubstr;
using namespace std::chrono_literals;

const element_spec number{tensor_spec{dtype::int64, {}}};

class Functions : public testing::Test {
protected:
  static dataset_ptr call(const dataset_ptr& in, const std::string& name,
                          const element_spec& gives = number, int64_t parallel = 0) {
    auto f = std::make_shared<function>();
    f->argument = in->spec;
    f->named = {name};
    f->declared = gives;
    return make_map(in, f, parallel).value();
  }
  result<std::unique_ptr<iterator>> open(const dataset_ptr& graph) {
    context.find_function = function_registry::finder(functions);
    return make_iterator(graph, context);
  }
  std::vector<std::string> read(const dataset_ptr& graph, size_t most = 1000) {
    auto from = open(graph).value();
    return test::read_all(*from, test::always(most));
  }
  std::string load(const std::string& file) { return to_string(functions->load_plugin(file)); }
  static std::string plugin(const std::string& name) {
    return test::refused_plugins_folder() + "/" + name + ".so";
  }

  std::shared_ptr<function_registry> functions = std::make_shared<function_registry>();
  iterator_context context;
};

TEST_F(Functions, OverSingleElementsFailForThoseAlone) {
  ASSERT_EQ(functions->add("odd", element_function{number, number,
                                                   [](const element& in, element_output& out) {
                                                     const auto x = in[0].scalar<int64_t>();
                                                     if (x % 2 == 0)
                                                       return out_of_range("even");
                                                     return out.set(0, x * 10);
                                                   }}),
            status{});
  for (size_t most : {1, 3, 1000})
    EXPECT_THAT(read(call(range(0, 4), "odd"), most),
                ElementsAre("!invalid_argument: map: odd: even", "10",
                            "!invalid_argument: map: odd: even", "30"));
}

TEST_F(Functions, OfElementsNeedARankForEachResult) {
  const element_spec any{tensor_spec{dtype::uint8, shape::unknown_rank()}};
  const auto how = functions->add(
    "f", element_function{number, any, [](const element&, element_output&) { return status{}; }});
  EXPECT_EQ(how.code(), status_code::invalid_argument);
  EXPECT_THAT(how.message(), HasSubstr("function 'f' gives a tensor of unknown rank"));
}

TEST_F(Functions, ThatSetTheWrongThingFail) {
  const auto with = [&](std::function<status(element_output&)> set) {
    functions = std::make_shared<function_registry>();
    const element_spec gives{tensor_spec{dtype::uint8, {2, shape::unknown}}};
    EXPECT_TRUE(functions
                  ->add("f", element_function{number, gives,
                                              [set](const element&, element_output& out) {
                                                return set(out);
                                              }})
                  .ok());
    return read(call(range(0, 1), "f", gives))[0];
  };
  const std::vector<uint8_t> four{1, 2, 3, 4};
  const auto bytes = std::span<const uint8_t>{four};
  EXPECT_EQ(with([&](auto& out) {
              return out.template set<uint8_t>(0, {2, 2}, bytes);
            }),
            "[2, 2]{1 2 3 4}");
  EXPECT_THAT(with([&](auto& out) {
                return out.template set<uint8_t>(0, {4, 1}, bytes);
              }),
              HasSubstr("f: it gave uint8[4, 1] as component 0; it declared uint8[2, ?]"));
  EXPECT_THAT(with([&](auto& out) {
                return out.template set<uint8_t>(0, {2, 3}, bytes);
              }),
              HasSubstr("it gave 4 values for uint8[2, 3]"));
  EXPECT_THAT(with([&](auto& out) { return out.set(0, int64_t{3}); }),
              HasSubstr("it gave int64[] as component 0"));
  EXPECT_THAT(with([&](auto& out) { return out.set(1, int64_t{3}); }),
              HasSubstr("it set component 1; it declared 1"));
  EXPECT_THAT(with([](auto&) { return status{}; }), HasSubstr("it did not set component 0"));
}

TEST_F(Functions, AreSetUpOnceForAllCalls) {
  std::atomic<int> set_ups{0};
  ASSERT_TRUE(functions
                ->add("add", with_set_up<int64_t>(
                               [&]() -> result<std::shared_ptr<int64_t>> {
                                 ++set_ups;
                                 return std::make_shared<int64_t>(100);
                               },
                               [](int64_t& by, const block& rows) -> result<block> {
                                 mutable_buffer out{rows.rows * sizeof(int64_t)};
                                 for (size_t i = 0; i < rows.rows; ++i)
                                   out.as<int64_t>()[i] = rows.columns[0].values<int64_t>()[i] + by;
                                 return block{{column::dense(dtype::int64, {}, rows.rows,
                                                             std::move(out).freeze())},
                                              rows.rows,
                                              {},
                                              {}};
                               }))
                .ok());
  for (int i = 0; i < 3; ++i)
    EXPECT_THAT(read(call(range(0, 3), "add", number, 2), 1), ElementsAre("100", "101", "102"));
  EXPECT_EQ(set_ups, 1);
}

TEST_F(Functions, RunInParallelAndInOrderWhereTheGraphAsksForIt) {
  std::mutex mutex;
  std::condition_variable changed;
  int inside = 0, most_inside = 0;
  ASSERT_TRUE(functions
                ->add("meet",
                      [&](const block& rows) -> result<block> {
                        std::unique_lock lock{mutex};
                        most_inside = std::max(most_inside, ++inside);
                        changed.notify_all();
                        changed.wait_for(lock, 20s, [&] { return most_inside > 1; });
                        --inside;
                        return rows;
                      })
                .ok());
  EXPECT_THAT(read(call(range(0, 4), "meet", number, 2), 1), ElementsAre("0", "1", "2", "3"));
  EXPECT_EQ(most_inside, 2);
}

TEST_F(Functions, RunOneAtATimeWithoutParallelCalls) {
  std::atomic<int> inside{0};
  ASSERT_TRUE(functions
                ->add("alone",
                      [&](const block& rows) -> result<block> {
                        if (++inside != 1)
                          return unavailable("two calls at once");
                        std::this_thread::yield();
                        --inside;
                        return rows;
                      })
                .ok());
  EXPECT_THAT(read(call(range(0, 4), "alone"), 1), ElementsAre("0", "1", "2", "3"));
}

TEST_F(Functions, WhoseSetUpFailsSayWhy) {
  ASSERT_TRUE(functions
                ->add("f", element_function{number, number,
                                            with_set_up<int>(
                                              []() -> result<std::shared_ptr<int>> {
                                                return unavailable("the model is not there");
                                              },
                                              [](int&, const element&, element_output&) {
                                                return status{};
                                              })})
                .ok());
  EXPECT_THAT(read(call(range(0, 2), "f")),
              ElementsAre("!unavailable: map: f: set-up: the model is not there",
                          "!unavailable: map: f: set-up: the model is not there"));
}

TEST_F(Functions, ThatGiveWhatWasNotDeclaredFail) {
  ASSERT_TRUE(functions->add("same", [](const block& in) -> result<block> { return in; }).ok());
  EXPECT_THAT(
    read(call(range(0, 1), "same", tensor_spec{dtype::float32, {}})),
    ElementsAre(HasSubstr("gave 1 rows of int64[] as component 0; it declared float32[]")));
  ASSERT_TRUE(functions
                ->add("text", element_function{tensor_spec{dtype::string, {}}, number,
                                               [](const element&, element_output& out) {
                                                 return out.set(0, int64_t{1});
                                               }})
                .ok());
  EXPECT_THAT(read(call(range(0, 1), "text")),
              ElementsAre(HasSubstr("text: it takes string[], but was given int64[]")));
}

TEST_F(Functions, ThatAreNotThereAreNamedWithThoseThatAre) {
  EXPECT_EQ(to_string(open(call(range(0, 1), "x")).status()),
            "not_found: no function is registered as 'x' in this process; there are: none");
  ASSERT_EQ(load(test::tile_plugin()), "ok");
  EXPECT_THAT(to_string(open(call(range(0, 1), "x")).status()),
              HasSubstr("there are: 'tile.bytes' (plug-in '" + test::tile_plugin()
                        + "'), 'tile.decode' (plug-in"));
}

TEST_F(Functions, OfAPluginAreCalled) {
  ASSERT_EQ(load(test::tile_plugin()), "ok");
  const auto tiles =
    make_from_tensor_slices(
      {string_constant(std::vector<std::string>{std::string{"TILE\2\1\2\1", 8}, "TILE"})})
      .value();
  EXPECT_THAT(read(call(tiles, "tile.bytes")), ElementsAre("8", "4"));
  const tensor_spec image{dtype::uint8, {shape::unknown, shape::unknown, 3}};
  EXPECT_THAT(read(call(tiles, "tile.decode", image)),
              ElementsAre("[1, 2, 3]{255 255 255 255 255 255}",
                          HasSubstr("!data_loss: map: tile.decode: this is no tile")));
}

TEST_F(Functions, OfPluginsThatAreNoneAreRefused) {
  EXPECT_EQ(load("/nowhere/x.so"),
            "not_found: plug-in '/nowhere/x.so': there is no such file that can be read");
  test::scratch_folder folder;
  EXPECT_THAT(load(folder.write("text.so", "not a library")), HasSubstr("cannot be loaded: "));
  EXPECT_THAT(load(plugin("no_plugin")), HasSubstr("is no headrace plug-in"));
  EXPECT_THAT(load(plugin("wrong_abi")),
              HasSubstr("was built for 'headrace plug-in 0, c++ abi 1, strings 1', this is "
                        "'headrace plug-in 1"));
  EXPECT_THAT(load(plugin("taken_name")),
              HasSubstr("function 'a' of plug-in '" + plugin("taken_name")
                        + "' is there already, from plug-in '" + plugin("taken_name")));
}

} // namespace
} // namespace headrace::detail
