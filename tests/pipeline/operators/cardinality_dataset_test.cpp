#include "headrace/pipeline/composed/cardinality_dataset.hpp"
#include "headrace/pipeline/composed/sorted_fields.hpp"
#include "headrace/pipeline/functions/trace.hpp"
#include "headrace/pipeline/makers/dataset_makers.hpp"
#include "tests/pipeline/support/rows.hpp"

#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace headrace::detail {
namespace {

using test::range;
using test::read_all;
using test::traced;
using testing::ElementsAre;

/// The cardinalities of the datasets that `make` returns for the windows of seven numbers, which
/// have 3, 3 and 1 elements.
template <class F>
std::vector<std::string> of_windows(F&& make) {
  const auto windows = make_window(range(0, 7), 3, 3).value();
  const auto f = trace(windows->spec, std::function<dataset_ptr(expr)>{[&](const expr& w) {
                         return make_cardinality(make(elements_of(w))).value();
                       }});
  return read_all(make_flat_map(windows, std::make_shared<const function>(f)).value());
}

TEST(CardinalityDataset, CountsTheWindowsThatAFunctionIsGiven) {
  EXPECT_THAT(of_windows([](dataset_ptr w) { return w; }), ElementsAre("3", "3", "1"));
  EXPECT_THAT(of_windows([](dataset_ptr w) {
                const auto n = expr{scalar_constant(2)} * expr{scalar_constant(1)};
                return make_skip(make_batch(w, 2).value(), n.node()).value();
              }),
              ElementsAre("0", "0", "0"));
  EXPECT_THAT(of_windows([](dataset_ptr w) { return make_repeat(w, -1).value(); }),
              ElementsAre("-1", "-1", "-1"));
}

TEST(CardinalityDataset, IsRefusedWhereElementsWouldHaveToBeRead) {
  const auto in = range(0, 9);
  const auto some = make_filter(in, traced(in, [](expr x) { return x > 3; })).value();
  EXPECT_EQ(make_cardinality(make_batch(some, 2).value()).status().message(),
            "cardinality: how many elements filter gives is not known before they are read: count "
            "them with reduce, or say it before with assert_cardinality");
}

TEST(CardinalityDataset, IsComputedFromTheInputsOfEachOperator) {
  const auto f = traced(range(0, 1), [](expr x) { return x; });
  const auto one = traced(range(0, 1), [](expr) { return range(0, 1); });
  const auto three = [](dataset_ptr) { return range(0, 3); };
  using make = std::function<result<dataset_ptr>(dataset_ptr)>;
  const std::vector<std::pair<make, std::vector<std::string>>> operators{
    {[&](dataset_ptr w) { return make_map(w, f); }, {"3", "3", "1"}},
    {[&](dataset_ptr w) { return make_flat_map(w, one); }, {"3", "3", "1"}},
    {[&](dataset_ptr w) { return make_interleave(w, one, 2); }, {"3", "3", "1"}},
    {[&](dataset_ptr w) { return make_shuffle(w, 2); }, {"3", "3", "1"}},
    {[&](dataset_ptr w) { return make_prefetch(w); }, {"3", "3", "1"}},
    {[&](dataset_ptr w) { return make_enumerate(w); }, {"3", "3", "1"}},
    {[&](dataset_ptr w) { return make_options(w, {}); }, {"3", "3", "1"}},
    {[&](dataset_ptr w) { return make_sleep(w, 1); }, {"3", "3", "1"}},
    {[&](dataset_ptr w) { return make_stats(w, "tag", true); }, {"3", "3", "1"}},
    {[&](dataset_ptr w) { return make_cache(w); }, {"3", "3", "1"}},
    {[&](dataset_ptr w) { return make_ragged_batch(w, 2); }, {"2", "2", "1"}},
    {[&](dataset_ptr w) { return make_padded_batch(w, 2); }, {"2", "2", "1"}},
    {[&](dataset_ptr w) { return make_window(w, 2, 1, 1, true); }, {"2", "2", "0"}},
    {[&](dataset_ptr w) { return make_take(w, 2); }, {"2", "2", "1"}},
    {[&](dataset_ptr w) { return make_skip(w, -1); }, {"0", "0", "0"}},
    {[&](dataset_ptr w) { return make_repeat(w, 2); }, {"6", "6", "2"}},
    {[&](dataset_ptr w) { return make_shard(w, 2, 1); }, {"1", "1", "0"}},
    {[&](dataset_ptr w) {
       return make_zip({w, three(w)});
     },
     {"3", "3", "1"}},
    {[&](dataset_ptr w) { return make_concatenate(w, three(w)); }, {"6", "6", "4"}},
  };
  for (const auto& [over, expected] : operators) {
    std::string name;
    EXPECT_EQ(of_windows([&, &over = over](dataset_ptr w) {
                const auto made = over(w).value();
                name = to_string(made->op);
                return made;
              }),
              expected)
      << name;
  }
}

TEST(CardinalityDataset, TheErrorNamesTheOperatorWhoseNumberIsNotKnown) {
  const auto in = range(0, 9);
  const auto some = make_filter(in, traced(in, [](expr x) { return x > 3; })).value();
  const auto ranges = traced(in, [](expr x) {
    return make_range(scalar_constant(0), x.node(), scalar_constant(1)).value();
  });
  const auto lines = make_text_lines(string_constant(std::vector<std::string>{"a"})).value();
  for (const auto& [graph, name] : std::vector<std::pair<dataset_ptr, std::string>>{
         {make_take(some, 2).value(), "filter"},
         {make_flat_map(some, ranges).value(), "flat_map"},
         {make_interleave(some, ranges, 2).value(), "interleave"},
         {make_shard(some, 2, 0, 2).value(), "shard"},
         {make_shard(some, 2, 0).value(), "filter"},
         {make_unique_elements(in).value(), "unique"},
         {make_zip({in, lines}).value(), "text_lines"},
       })
    EXPECT_EQ(make_cardinality(graph).status().message(),
              "cardinality: how many elements " + name
                + " gives is not known before they are read: count them with reduce, or say it "
                  "before with assert_cardinality");
}

TEST(SortedFields, ArrangesEachStructureByName) {
  const auto in = range(1, 3);
  const auto named_rows =
    make_map(in, traced(in,
                        [](expr x) {
                          return named({{"z", x},
                                        {"a", expr_structure::tuple(
                                                {x * 10, named({{"d", x * 20}, {"c", x * 30}})})}});
                        }))
      .value();
  const auto sorted = make_sorted_fields(named_rows).value();
  EXPECT_EQ(to_string(sorted->spec), "{a: (int64[], {c: int64[], d: int64[]}), z: int64[]}");
  EXPECT_THAT(read_all(sorted), ElementsAre("10|30|20|1", "20|60|40|2"));
  EXPECT_EQ(make_sorted_fields(sorted).value(), sorted) << "what is sorted stays as it is";
}

TEST(Labels, AreNoPartOfEqualityAndStayWithTheLayout) {
  const auto in = range(0, 3);
  auto f = std::make_shared<function>(*traced(in, [](expr x) { return std::tuple{x, x}; }));
  const auto plain = make_map(in, f).value();
  f->layout = f->layout.labelled("a class");
  const auto labelled = make_map(in, std::make_shared<const function>(*f)).value();
  EXPECT_EQ(plain->spec, labelled->spec);
  EXPECT_EQ(make_batch(labelled, 2).value()->spec.layout.label(), "a class");
  EXPECT_EQ(make_concatenate(labelled, plain).value()->spec.layout.label(), "a class");
}

} // namespace
} // namespace headrace::detail
