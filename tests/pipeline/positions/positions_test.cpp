#include "headrace/pipeline/codec/position_codec.hpp"
#include "headrace/pipeline/files/tfrecord_writer.hpp"
#include "headrace/pipeline/graph_codec/graph_codec.hpp"
#include "tests/pipeline/support/rows.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <random>

namespace headrace::detail {
namespace {

using test::always;
using test::range;
using test::read_all;
using test::traced;
using testing::HasSubstr;

/// A copy of the graph without state of earlier iterations, as a new process has it.
dataset_ptr anew(const dataset_ptr& graph) {
  return decode_graph(encode_graph(graph).value()).value();
}

/// A new iterator, restored at the present position of `from`.
std::unique_ptr<iterator> resumed(const dataset_ptr& graph, const iterator& from,
                                  const iterator_context& context) {
  const auto record = encode_iteration({.graph = "x", .point = {from.save(), 0}}).value();
  const auto position = decode_iteration(record, "x").value();
  auto out = make_iterator(anew(graph), context).value();
  EXPECT_EQ(out->restore(*position.point.at), status{});
  return out;
}

/// For each number of rows: reads so many rows, restores iterator A from the position there and
/// iterator B from the position of A, and checks that B gives the remaining rows. All iterators are
/// read in blocks of 1, 3 and 1000 rows.
void expect_resumes(const dataset_ptr& graph) {
  const auto whole = read_all(anew(graph));
  for (size_t most : {1, 3, 1000})
    for (size_t rows = 0; rows <= whole.size(); ++rows) {
      iterator_context context;
      auto first = make_iterator(anew(graph), context).value();
      read_all(*first, always(most), rows);
      auto last = resumed(graph, *resumed(graph, *first, context), context);
      const std::vector<std::string> rest{whole.begin() + static_cast<std::ptrdiff_t>(rows),
                                          whole.end()};
      ASSERT_EQ(read_all(*last, always(most)), rest) << rows << " rows in blocks of " << most;
    }
}

dataset_ptr counted() { return make_enumerate(range(0, 23, 2), 5).value(); }

function_ptr up_to(const dataset_ptr& in) {
  return traced(in, [](expr x) {
    return make_range((x * 0).node(), (x % 4).node(), scalar_constant(1)).value();
  });
}

TEST(Positions, OfSourcesAndSimpleOperators) {
  expect_resumes(range(5, -5, -3));
  expect_resumes(counted());
  expect_resumes(make_take(counted(), 7).value());
  expect_resumes(make_skip(counted(), 7).value());
  expect_resumes(make_repeat(counted(), 3).value());
  expect_resumes(make_repeat(make_take(range(0, 9), 0).value()).value());
  expect_resumes(make_concatenate(counted(), counted()).value());
  expect_resumes(make_zip({counted(), make_batch(range(0, 50), 3).value()}).value());
  expect_resumes(make_batch(counted(), 5).value());
  expect_resumes(make_batch(counted(), 5, true).value());
}

TEST(Positions, OfAShardThatHasTheFailureOfAnotherShardsLastRowToGive) {
  const auto in = range(1, 6);
  const auto last_fails = make_map(in, traced(in, [](expr x) { return 840 / (x % 5); })).value();
  for (int64_t index : {0, 1}) expect_resumes(make_shard(last_fails, 2, index).value());
}

TEST(Positions, OfOneCacheThatIsReadAgainWhateverItsFirstReaderDrew) {
  const auto kept = make_cache(make_shuffle(range(0, 12), 5).value()).value();
  expect_resumes(make_repeat(kept, 3).value());
  expect_resumes(make_concatenate(kept, kept).value());
  expect_resumes(make_concatenate(make_take(kept, 4).value(), kept).value());
  expect_resumes(make_zip({kept, make_skip(kept, 3).value()}).value());
}

TEST(Positions, OfACacheThatIsNotOpenAndIsReadAgainLater) {
  const auto kept = make_cache(make_shuffle(range(0, 12), 5).value()).value();
  const auto twice = make_repeat(kept, 2).value();
  const auto others = range(50, 53);
  // The cache has been read to its end while the other input still gives rows.
  expect_resumes(make_repeat(make_concatenate(kept, others).value(), 3).value());
  expect_resumes(make_repeat(make_sample_from({kept, range(50, 80)}, {}, 7).value(), 2).value());
  // The second use of the cache begins only after other rows were read.
  expect_resumes(make_concatenate(kept, make_concatenate(others, kept).value()).value());
  // Unique and shuffle hold elements. A restored iterator reads these again from a position at
  // which the cache was not begun.
  expect_resumes(make_repeat(make_unique_elements(twice).value(), 3).value());
  expect_resumes(make_repeat(make_shuffle(twice, 4, 1).value(), 3).value());
  const auto never_whole = make_take(make_cache(twice).value(), 14).value();
  expect_resumes(make_repeat(make_unique_elements(never_whole).value(), 3).value());
  // `take` ends in the second reading of the cache, before the cache's end.
  expect_resumes(make_repeat(make_take(twice, 14).value(), 3).value());
}

TEST(Positions, OfInputsThatAreDrawnOrChosen) {
  const std::vector<dataset_ptr> inputs{range(0, 3), range(3, 20), range(20, 25)};
  const auto numbers = range(0, 40);
  const auto choices = make_map(numbers, traced(numbers, [](expr x) { return x % 3; })).value();
  for (bool stop : {false, true}) {
    expect_resumes(make_sample_from(inputs, {}, 7, stop).value());
    expect_resumes(make_choose_from(choices, inputs, stop).value());
  }
}

TEST(Positions, OfFunctions) {
  const auto in = range(0, 30);
  expect_resumes(make_map(in, traced(in, [](expr x) { return 60 / (x % 3); })).value());
  expect_resumes(make_map(in, traced(in, [](expr x) { return 60 / (x % 3); }), 2).value());
  expect_resumes(make_filter(in, traced(in, [](expr x) { return x % 3 == 1; })).value());
  expect_resumes(make_flat_map(in, up_to(in)).value());
  for (int64_t length : {1, 2}) {
    expect_resumes(make_interleave(in, up_to(in), 3, length).value());
    expect_resumes(make_interleave(in, up_to(in), 3, length, 2).value());
  }
}

TEST(Positions, OfPrefetch) {
  expect_resumes(make_prefetch(make_batch(counted(), 2).value()).value());
  expect_resumes(make_prefetch(make_prefetch(counted(), 1).value(), 2).value());
}

TEST(Positions, OfShuffles) {
  for (int64_t size : {1, 2, 7, 40}) {
    expect_resumes(make_shuffle(range(0, 30), size, 3).value());
    expect_resumes(make_repeat(make_shuffle(range(0, 10), size).value(), 3).value());
    expect_resumes(make_shuffle(make_shuffle(range(0, 30), size, 1).value(), size, 2).value());
  }
  // Error rows do not enter the buffer; rows of unknown size are kept in their blocks.
  auto in = range(0, 30);
  auto failing = make_map(in, traced(in, [](expr x) { return 60 / (x % 3); })).value();
  expect_resumes(make_shuffle(failing, 5, 1).value());
  expect_resumes(make_shuffle(make_batch(in, 4).value(), 3, 1).value());
}

TEST(Positions, OfFiles) {
  test::scratch_folder folder;
  std::vector<std::string> files;
  for (int i = 0; i < 3; ++i)
    files.push_back(folder.write(std::to_string(i) + ".txt", i == 1 ? "" : "one\ntwo\n\nthree"));
  expect_resumes(make_text_lines(string_constant(files)).value());
  const std::vector<std::string> patterns{folder.path() + "/*.txt"};
  expect_resumes(make_list_files(string_constant(patterns)).value());
  auto names = make_list_files(string_constant(patterns), true).value();
  expect_resumes(names);
  auto lines = traced(names, [](expr x) { return make_text_lines(x.node()).value(); });
  expect_resumes(make_interleave(names, lines, 2).value());
}

TEST(Positions, OfCompressedFilesAndRecords) {
  test::scratch_folder folder;
  for (const auto how : file_compressions) {
    std::vector<std::string> files;
    for (int i = 0; i < 3; ++i) {
      files.push_back(folder.path() + "/" + std::to_string(i) + std::string{to_string(how)});
      auto writer = tfrecord_writer::open(files.back(), {.compression = how}).value();
      for (int n = 0; n < (i == 1 ? 0 : 9); ++n)
        ASSERT_TRUE(writer.write(std::string(n * 50, static_cast<char>('a' + i)) + "\n").ok());
      ASSERT_TRUE(writer.finish().ok());
    }
    expect_resumes(make_tfrecord(string_constant(files), how).value());
    expect_resumes(
      make_repeat(make_shuffle(make_tfrecord(string_constant(files), how).value(), 4, 1).value(), 2)
        .value());
    // The same files can be read as lines, because any bytes are lines.
    expect_resumes(make_text_lines(string_constant(files), how).value());
  }
}

TEST(Positions, AreRefusedByOtherGraphsAndVersionsAndWhenDamaged) {
  const auto graph = range(0, 10);
  iterator_context context;
  const auto it = make_iterator(graph, context).value();
  const auto name = fingerprint(graph).value();
  const auto record = encode_iteration({.graph = name, .point = {it->save(), 0}}).value();
  EXPECT_TRUE(decode_iteration(record, name).ok());
  const auto other = decode_iteration(record, fingerprint(range(0, 11)).value());
  EXPECT_EQ(other.status().code(), status_code::failed_precondition);
  EXPECT_THAT(other.status().message(), HasSubstr("it belongs to another dataset"));

  for (size_t i = 0; i < record.size(); ++i) {
    auto bytes = std::vector<std::byte>{record.data(), record.data() + record.size()};
    bytes[i] ^= std::byte{0x41};
    // A changed byte of padding is not detected, and must not change the position.
    const auto read = decode_iteration(buffer::copy_of(bytes.data(), bytes.size()), name);
    if (read.ok()) {
      EXPECT_TRUE(std::ranges::equal(encode_iteration(*read)->as<char>(), record.as<char>())) << i;
    }
    EXPECT_FALSE(decode_iteration(record.slice(0, i), name).ok()) << i;
  }
}

TEST(Positions, OfAnotherVersionOfAnOperatorAreRefusedNamingIt) {
  iterator_context context;
  const auto graph = make_batch(range(0, 10), 2).value();
  auto changed = *make_iterator(graph, context).value()->save();
  EXPECT_EQ(changed.version, 1);
  changed.version = 7;
  const resume_point point{std::make_shared<const position>(changed), 0};
  const auto record = encode_iteration({.graph = "x", .point = point}).value();
  const auto read = decode_iteration(record, "x").value();
  EXPECT_EQ(read.point.at->version, 7);
  EXPECT_EQ(read.point.at->parts[0]->version, 1);
  const auto refused = make_iterator(graph, context).value()->restore(*read.point.at);
  EXPECT_EQ(refused.code(), status_code::failed_precondition);
  EXPECT_THAT(refused.message(), HasSubstr("of a batch is of version 7, and this build reads "
                                           "version 1"));
}

TEST(Positions, ThatFitNoOperatorAreRefused) {
  iterator_context context;
  auto saved = make_iterator(make_batch(range(0, 10), 2).value(), context).value()->save();
  auto it = make_iterator(make_shuffle(range(0, 10), 2).value(), context).value();
  EXPECT_EQ(it->restore(*saved).code(), status_code::data_loss);
  // Numbers that no iterator wrote must be refused, or do no harm.
  const auto graph = make_zip({make_shuffle(range(0, 10), 4).value(),
                               make_batch(make_prefetch(range(0, 9)).value(), 2).value()})
                       .value();
  for (uint64_t bad : {uint64_t{3}, uint64_t{11}, UINT64_MAX / 2, UINT64_MAX})
    for (size_t which = 0; which < 2; ++which) {
      const auto good = make_iterator(graph, context).value()->save();
      auto changed = *good;
      auto part = *changed.parts[which];
      for (size_t n = 0; n < part.numbers.size(); ++n) {
        auto one = part;
        one.numbers[n] = bad;
        changed.parts[which] = std::make_shared<const position>(one);
        auto fresh = make_iterator(graph, context).value();
        if (fresh->restore(changed).ok())
          read_all(*fresh, always(3), 20);
      }
    }
}

TEST(Positions, OfAServiceCannotBeSaved) {
  struct nothing : element_source {
    std::optional<block> next(const limits&) override { return std::nullopt; }
  };
  iterator_context context;
  context.distribute = [](const dataset_node&) -> result<std::unique_ptr<element_source>> {
    return std::unique_ptr<element_source>{std::make_unique<nothing>()};
  };
  auto graph = make_batch(make_distribute(range(0, 9), {.address = "a:1"}).value(), 2).value();
  auto it = make_iterator(graph, context).value();
  const auto record = encode_iteration({.graph = "", .point = {it->save(), 0}});
  EXPECT_EQ(record.status().code(), status_code::unimplemented);
  EXPECT_THAT(record.status().message(), HasSubstr("distribute: "));
}

TEST(Positions, AreRefusedWhenOtherFilesMatch) {
  test::scratch_folder folder;
  folder.write("a.txt", "1\n");
  const std::vector<std::string> patterns{folder.path() + "/*.txt"};
  const auto graph = make_list_files(string_constant(patterns)).value();
  iterator_context context;
  auto it = make_iterator(graph, context).value();
  read_all(*it, always(1), 1);
  const auto saved = it->save();
  folder.write("b.txt", "1\n");
  auto fresh = make_iterator(graph, context).value();
  EXPECT_EQ(fresh->restore(*saved).code(), status_code::failed_precondition);
}

TEST(Positions, AreRefusedWhenAFileBecameShorterOrWent) {
  test::scratch_folder folder;
  const std::vector<std::string> files{folder.write("a.txt", "one\ntwo\nthree\n")};
  const auto graph = make_text_lines(string_constant(files)).value();
  iterator_context context;
  auto it = make_iterator(graph, context).value();
  read_all(*it, always(1), 2);
  const auto saved = it->save();
  folder.write("a.txt", "one\n");
  EXPECT_EQ(make_iterator(graph, context).value()->restore(*saved).code(), status_code::data_loss);
  ASSERT_EQ(std::remove(files[0].c_str()), 0);
  EXPECT_EQ(make_iterator(graph, context).value()->restore(*saved).code(), status_code::not_found);
}

TEST(Positions, StaySmallHoweverMuchAShuffleHolds) {
  const auto graph =
    make_shuffle(make_batch(make_repeat(range(0, 1000)).value(), 2).value(), 1000000, 1).value();
  iterator_context context;
  auto it = make_iterator(graph, context).value();
  ASSERT_TRUE(it->next({.rows = 1 << 16}));
  const auto record = encode_iteration({.graph = "x", .point = {it->save(), 0}}).value();
  EXPECT_LT(record.size(), 4096u);
}

/// The size of the record of the position after `rows` rows. Checks that an iterator that is
/// restored from it gives the same further rows.
size_t record_size(const dataset_ptr& graph, size_t rows) {
  iterator_context context;
  auto at = make_iterator(graph, context).value();
  for (size_t read = 0; read < rows;) read += at->next({.rows = rows - read})->rows;
  const auto record = encode_iteration({.graph = "x", .point = {at->save(), 0}}).value();
  auto again = make_iterator(graph, context).value();
  EXPECT_EQ(again->restore(*decode_iteration(record)->point.at), status{});
  EXPECT_EQ(read_all(*again, always(100), 300), read_all(*at, always(100), 300));
  return record.size();
}

TEST(Positions, OfThousandsOfOpenDatasetsStayBelowAMebibyte) {
  const auto in = range(0, 30000);
  const auto inner = traced(
    in, [](expr x) { return make_range(x.node(), (x + 50).node(), scalar_constant(1)).value(); });
  EXPECT_LT(record_size(make_interleave(in, inner, 20000).value(), 25000), most_record_bytes / 2);
}

TEST(Positions, OfThousandsOfOpenGroupsStayBelowAMebibyte) {
  const auto in = range(0, 200000);
  const auto key = traced(in, [](expr x) { return x % 65500; });
  const auto argument = grouped_spec(in->spec);
  const auto first = std::make_shared<const function>(
    trace(argument, [](expr, dataset_ptr rows) { return make_take(rows, 1).value(); }));
  const auto graph = make_group_by_window(in, key, first, 3).value();
  EXPECT_LT(record_size(graph, 100), most_record_bytes / 2);
}

TEST(Positions, ThatAreLargerThanARecordMayBeAreRefusedNamingTheOperator) {
  // Random numbers, which packing does not make smaller.
  std::vector<int64_t> state(300000);
  std::mt19937_64 random{1};
  for (auto& x : state) x = static_cast<int64_t>(random());
  const auto in = range(0, 10);
  const auto keep = std::make_shared<const function>(
    trace(element_spec::tuple({tensor_spec{dtype::int64, {300000}}, tensor_spec{dtype::int64, {}}}),
          [](expr all, expr x) {
            return std::pair{all, x};
          }));
  const auto graph = make_batch(make_scan(in, {constant(state).node()}, keep).value(), 2).value();
  iterator_context context;
  auto at = make_iterator(graph, context).value();
  ASSERT_TRUE(at->next({.rows = 1}));
  const auto record = encode_iteration({.graph = "x", .point = {at->save(), 0}});
  EXPECT_EQ(record.status().code(), status_code::resource_exhausted);
  EXPECT_THAT(record.status().message(), HasSubstr("a record may have 1048576. Most of that is "
                                                   "what scan keeps"));
}

TEST(Positions, ThatArePackedAreCheckedAsOthersAre) {
  const auto in = range(0, 3000);
  const auto inner = traced(
    in, [](expr x) { return make_range(x.node(), (x + 50).node(), scalar_constant(1)).value(); });
  iterator_context context;
  auto at = make_iterator(make_interleave(in, inner, 500).value(), context).value();
  for (int i = 0; i < 30; ++i) ASSERT_TRUE(at->next({.rows = 100}));
  const auto record = encode_iteration({.graph = "x", .point = {at->save(), 0}}).value();
  ASSERT_TRUE(decode_iteration(record).ok());
  std::mt19937_64 random{2};
  for (int i = 0; i < 2000; ++i) {
    auto bytes = std::vector<std::byte>{record.data(), record.data() + record.size()};
    const auto place = i < 64 ? static_cast<size_t>(i) : random() % bytes.size();
    bytes[place] ^= std::byte{0x41};
    const auto read = decode_iteration(buffer::copy_of(bytes.data(), bytes.size()));
    if (read.ok()) { // the changed byte is padding
      EXPECT_TRUE(std::ranges::equal(encode_iteration(*read)->as<char>(), record.as<char>()));
    }
  }
}

TEST(Positions, OfALargeShuffleResume) {
  const auto graph = make_shuffle(range(0, 700000), 300000, 1).value();
  iterator_context context;
  auto it = make_iterator(graph, context).value();
  for (int64_t left = 400000; left > 0;)
    left -= static_cast<int64_t>(it->next({.rows = 10000})->rows);
  const auto record = encode_iteration({.graph = "x", .point = {it->save(), 0}}).value();
  auto second = make_iterator(graph, context).value();
  ASSERT_EQ(second->restore(*decode_iteration(record)->point.at), status{});
  while (auto more = it->next({.rows = 1000})) {
    const auto same = second->next({.rows = more->rows});
    ASSERT_TRUE(same);
    ASSERT_EQ(more->rows, same->rows);
    ASSERT_TRUE(
      std::ranges::equal(more->columns[0].values<int64_t>(), same->columns[0].values<int64_t>()));
  }
  EXPECT_FALSE(second->next({.rows = 1}));
}

} // namespace
} // namespace headrace::detail
