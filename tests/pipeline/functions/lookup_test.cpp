#include "headrace/pipeline/functions/lookup.hpp"

#include "tests/pipeline/functions/everywhere.hpp"

#include <cstdio>
#include <fstream>
#include <unistd.h>

namespace headrace::detail {
namespace {

using namespace test;
using list = std::vector<std::string>;

TEST(Lookup, FindsWordsAndSpreadsTheOthers) {
  auto out = apply_everywhere({texts({"whale", "ship", "fish", "", "ship"})}, [](expr s) {
    const auto plain = lookup::vocabulary_table({"ship", "whale"});
    const auto spread = lookup::vocabulary_table({"ship", "whale"}, 5);
    EXPECT_EQ(plain.size(), 2);
    EXPECT_EQ(spread.size(), 7);
    return std::tuple{plain.lookup(s), spread.lookup(s), strings::to_hash_bucket_fast(s, 5),
                      plain.lookup(stack({s, s}))};
  });
  EXPECT_EQ(values_of<int64_t>(out.columns[0]), (std::vector<int64_t>{1, 0, -1, -1, 0}));
  const auto hash = values_of<int64_t>(out.columns[2]);
  EXPECT_EQ(values_of<int64_t>(out.columns[1]),
            (std::vector<int64_t>{1, 0, 2 + hash[2], 2 + hash[3], 0}));
  EXPECT_EQ(to_string(out.columns[3].row_shape()), "[2]");
}

TEST(Lookup, GivesWordsForIdsAndTheDefaultForOthers) {
  auto out = apply_everywhere({scalars<int64_t>({1, -1, 0, 2})}, [](expr x) {
    return std::tuple{lookup::index_to_string({"a", "b"}).lookup(x),
                      lookup::table{constant(std::vector<int64_t>{2, -1}),
                                    constant(std::vector<float>{0.5f, 2.5f}), 9}
                        .lookup(x)};
  });
  EXPECT_EQ(texts_of(out.columns[0]), (list{"b", "UNK", "a", "UNK"}));
  EXPECT_EQ(values_of<float>(out.columns[1]), (std::vector<float>{9, 2.5f, 9, 0.5f}));
}

TEST(Lookup, AnEmptyTableHasDefaultsOnly) {
  auto out =
    apply_everywhere({texts({"x"})}, [](expr s) { return lookup::vocabulary_table({}).lookup(s); });
  EXPECT_EQ(values_of<int64_t>(out.columns[0]), (std::vector<int64_t>{-1}));
}

TEST(Lookup, ATableIsCheckedWhenItIsMade) {
  const auto keys = constant(list{"a", "b"});
  EXPECT_EQ(thrown_by([&] { lookup::table(keys, constant(std::vector<int>{1}), 0); }),
            "lookup.table: 2 keys for 1 values");
  EXPECT_EQ(thrown_by([&] { lookup::table(keys, keys, 0); }),
            "lookup.table: operands are int32 and string");
  EXPECT_EQ(thrown_by([] {
              lookup::vocabulary_table({"a", "b", "a"});
            }),
            "lookup.table: key 'a' is there twice, with different values");
  const auto same =
    lookup::table(constant(list{"a", "b", "a"}), constant(std::vector<int>{1, 2, 1}), 0);
  EXPECT_EQ(same.size(), 2);
  EXPECT_EQ(thrown_by([] { lookup::vocabulary_table({"a"}, -1); }),
            "lookup.table: the number of buckets must not be negative");
  EXPECT_EQ(thrown_by([] { lookup::vocabulary_table({"a"}).lookup(constant(1.5f)); }),
            "lookup.table: keys are float32[]; the table's are string");
  apply({texts({"x"})}, [&](expr s) {
    EXPECT_EQ(thrown_by([&] { lookup::table(stack({s}), constant(std::vector<int>{1}), 0); }),
              "lookup.table: keys, values and default of the table must be constants");
    return s;
  });
}

TEST(Lookup, AVocabularyFileIsReadLineByLine) {
  const auto path = ::testing::TempDir() + "vocabulary." + std::to_string(::getpid());
  std::ofstream{path} << "ship\r\n\nwhale";
  EXPECT_EQ(lookup::read_vocabulary(path), (list{"ship", "", "whale"}));
  std::remove(path.c_str());
  EXPECT_EQ(thrown_by([&] { lookup::read_vocabulary(path); }),
            "lookup.read_vocabulary: cannot read '" + path + "': No such file or directory");
}

} // namespace
} // namespace headrace::detail
