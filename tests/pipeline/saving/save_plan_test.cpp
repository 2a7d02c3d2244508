#include "headrace/pipeline/saving/save_plan.hpp"

#include "headrace/pipeline/codec/canonical_message.hpp"
#include "headrace/pipeline/codec/spec_codec.hpp"
#include "headrace/pipeline/files/tfrecord_writer.hpp"
#include "tests/pipeline/support/rows.hpp"
#include "tests/support/test_seed.hpp"

#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <headrace/schemas/saved.capnp.h>
#include <random>

namespace headrace::detail {
namespace {

using testing::AllOf;
using testing::HasSubstr;

const element_spec number_spec{tensor_spec{dtype::int64, {}}};

save_plan some_plan() {
  save_plan out;
  out.id = 77;
  out.fingerprint = "abc";
  out.spec = number_spec;
  out.compression = saved_compression::gzip;
  out.seed = 5;
  out.sections = {{0, 0, 100, 7, 9}, {2, 0, 3, 5, 0}, {0, 1, 1, 1, 9}};
  return out;
}

class SavePlan : public testing::Test {
protected:
  void put(const std::string& bytes) const {
    std::ofstream{file, std::ios::binary}.write(bytes.data(),
                                                static_cast<std::streamsize>(bytes.size()));
  }
  std::string failure() const { return to_string(find_save_plan(folder.path()).status()); }

  /// Writes a plan that `change` has modified, in the format of `write_save_plan`.
  template <class Change>
  void put_changed(Change change) const {
    ::capnp::MallocMessageBuilder message;
    auto plan = message.initRoot<schema::SavePlan>();
    plan.setVersion(1);
    encode(number_spec, plan.initSpec());
    auto one = plan.initSections(1)[0];
    one.setSplits(10);
    one.setPieceSplits(1);
    change(plan);
    const auto bytes = detail::canonical_bytes<schema::SavePlan>(message);
    auto to = tfrecord_writer::open(file).value();
    ASSERT_TRUE(to.write({reinterpret_cast<const char*>(bytes.data()), bytes.size()}).ok());
    ASSERT_TRUE(to.finish().ok());
  }

  test::scratch_folder folder;
  std::string file = folder.path() + "/saving.headrace";
};

TEST_F(SavePlan, ComesBackAsItWasWritten) {
  EXPECT_FALSE(find_save_plan(folder.path()).value());
  const auto what = some_plan();
  ASSERT_EQ(write_save_plan(folder.path(), what), status{});
  const auto found = find_save_plan(folder.path()).value().value();
  EXPECT_EQ(found.id, what.id);
  EXPECT_EQ(found.fingerprint, what.fingerprint);
  EXPECT_EQ(found.spec, what.spec);
  EXPECT_EQ(found.compression, what.compression);
  EXPECT_EQ(found.seed, what.seed);
  EXPECT_EQ(found.sections, what.sections);
  EXPECT_TRUE(found.divided());
  EXPECT_EQ(found.pieces(), 15u + 1 + 1);
}

TEST_F(SavePlan, OfWhatIsNotDividedIsOnePiece) {
  auto what = some_plan();
  what.sections.clear();
  EXPECT_EQ(what.pieces(), 0u);
  what.whole_because = "take counts";
  ASSERT_EQ(write_save_plan(folder.path(), what), status{});
  const auto found = find_save_plan(folder.path()).value().value();
  EXPECT_EQ(found.whole_because, what.whole_because);
  EXPECT_EQ(found.pieces(), 1u);
  EXPECT_EQ(found.piece_of(0).of, nullptr);
}

TEST_F(SavePlan, KeepsTextsWithAZeroInside) {
  const std::string text{"a\0b", 3};
  auto what = some_plan();
  what.fingerprint = what.whole_because = text;
  ASSERT_EQ(write_save_plan(folder.path(), what), status{});
  const auto found = find_save_plan(folder.path()).value().value();
  EXPECT_EQ(found.fingerprint, text);
  EXPECT_EQ(found.whole_because, text);
  ASSERT_TRUE(note_save_failure(folder.path(), 0, unavailable(text)).ok());
  EXPECT_EQ(noted_save_failure(folder.path()), aborted("saving it ended early: " + text));
}

TEST_F(SavePlan, IsNeverReplaced) {
  ASSERT_EQ(write_save_plan(folder.path(), some_plan()), status{});
  auto other = some_plan();
  other.id = 78;
  EXPECT_EQ(write_save_plan(folder.path(), other).code(), status_code::already_exists);
  EXPECT_EQ(find_save_plan(folder.path()).value()->id, 77u);
}

TEST_F(SavePlan, ADamagedFileIsToldAndNeverCrashes) {
  ASSERT_EQ(write_save_plan(folder.path(), some_plan()), status{});
  const auto whole = test::read_file(file);
  for (size_t i = 0; i < whole.size(); ++i) {
    auto bytes = whole;
    bytes[i] = static_cast<char>(bytes[i] ^ 0x40);
    put(bytes);
    EXPECT_THAT(failure(), AllOf(HasSubstr("data_loss"), HasSubstr(file))) << "byte " << i;
  }
  for (size_t size = 0; size < whole.size(); ++size) {
    put(whole.substr(0, size));
    EXPECT_THAT(failure(), AllOf(HasSubstr("data_loss"), HasSubstr(file))) << size << " bytes";
  }
}

TEST_F(SavePlan, AForeignFileIsTold) {
  put("not at all a plan, but long enough to have a header and a record of some bytes");
  EXPECT_THAT(failure(), AllOf(HasSubstr("data_loss"), HasSubstr(file)));
  put_changed([](auto& plan) { plan.setVersion(2); });
  EXPECT_THAT(failure(),
              AllOf(HasSubstr("it is of version 2; this build reads version 1"), HasSubstr(file)));
  put_changed(
    [](auto& plan) { plan.setCompression(static_cast<schema::SavedDataset::Compression>(9)); });
  EXPECT_THAT(failure(), HasSubstr("compressed in a way that this build does not know"));
}

TEST_F(SavePlan, PiecesThatCannotBeAreRefused) {
  put_changed([](auto&) {});
  EXPECT_EQ(failure(), "ok");
  const auto refused = [&](uint64_t splits, uint64_t of_piece, unsigned sections) {
    put_changed([&](auto& plan) {
      auto all = plan.initSections(sections);
      for (auto one : all) {
        one.setSplits(splits);
        one.setPieceSplits(of_piece);
      }
    });
    return failure().starts_with("data_loss");
  };
  EXPECT_TRUE(refused(10, 0, 1));
  EXPECT_TRUE(refused(most_save_pieces + 1, 1, 1));
  EXPECT_TRUE(refused(most_save_pieces / 2 + 1, 1, 2));
  EXPECT_TRUE(refused(UINT64_MAX, 1, 3));
  EXPECT_FALSE(refused(most_save_pieces / 2, 1, 2));
  EXPECT_FALSE(refused(UINT64_MAX, UINT64_MAX, 2));
}

TEST_F(SavePlan, AFailureIsToldUntilItIsForgotten) {
  EXPECT_TRUE(noted_save_failure(folder.path()).ok());
  for (const auto* why : {"no room", "no room again"}) {
    ASSERT_TRUE(note_save_failure(folder.path(), 0, unavailable(why)).ok());
    EXPECT_EQ(to_string(noted_save_failure(folder.path())),
              fmt::format("aborted: saving it ended early: {}", why));
  }
  forget_save_failure(folder.path());
  EXPECT_TRUE(noted_save_failure(folder.path()).ok());
  // A failure that was noted for another plan is not reported.
  ASSERT_TRUE(note_save_failure(folder.path(), 77, unavailable("no room")).ok());
  EXPECT_TRUE(noted_save_failure(folder.path()).ok());
  forget_save_failure(folder.path());
  std::ofstream{folder.path() + "/failed.headrace"} << "x";
  EXPECT_THAT(to_string(noted_save_failure(folder.path())),
              AllOf(HasSubstr("data_loss"), HasSubstr(folder.path() + "/failed.headrace")));
}

/// A random number below 2^63 that has a random number of bits, so that small numbers are as
/// frequent as large ones.
uint64_t drawn(std::mt19937_64& random) { return (random() >> 1) >> (random() % 63); }

piece_sizing drawn_sizing(std::mt19937_64& random) {
  return {.rows = random() % 2 == 0,
          .multiple = 1 + (random() % 3 == 0 ? drawn(random) : random() % 100),
          .workers = static_cast<uint32_t>(random() % 4 == 0 ? random() : random() % 300),
          .passes = 1 + random() % (random() % 2 == 0 ? 3 : most_save_pieces)};
}

TEST(SavePieces, CoverEverySplitOnceInOrder) {
  const auto seed = test::test_seed();
  std::mt19937_64 random{seed};
  for (int i = 0; i < 3000; ++i) {
    SCOPED_TRACE(fmt::format("seed {}, plan {}", seed, i));
    save_plan plan;
    uint64_t multiple = 0;
    for (auto n = random() % 4; n > 0; --n) {
      auto how = drawn_sizing(random);
      multiple = how.multiple;
      const auto splits = i == 0 ? uint64_t{1} << 63 : 1 + drawn(random);
      plan.sections.push_back({0, n, splits, splits_a_piece(splits, how), 0});
    }
    uint64_t number = 0;
    for (const auto& section : plan.sections) {
      for (uint64_t end = 0; end < section.splits; ++number) {
        ASSERT_LT(number, plan.pieces());
        const auto piece = plan.piece_of(number);
        ASSERT_EQ(piece.of, &section);
        ASSERT_EQ(piece.splits.first, end);
        ASSERT_GT(piece.splits.count, 0u);
        ASSERT_LE(piece.splits.count, section.splits - end);
        end += piece.splits.count;
        ASSERT_TRUE(&section != &plan.sections.back() || end == section.splits
                    || end % multiple == 0);
      }
    }
    ASSERT_EQ(number, plan.pieces());
  }
}

TEST(SavePieces, AreEnoughForAllWorkersAndNotTooMany) {
  const auto seed = test::test_seed();
  std::mt19937_64 random{seed};
  for (int i = 0; i < 3000; ++i) {
    SCOPED_TRACE(fmt::format("seed {}, sizing {}", seed, i));
    const auto how = drawn_sizing(random);
    const auto splits = 1 + drawn(random);
    const auto size = splits_a_piece(splits, how);
    ASSERT_GE(size, 1u);
    ASSERT_LE(size, splits);
    ASSERT_TRUE(size == splits || size % how.multiple == 0);
    const auto pieces = save_plan::section{0, 0, splits, size, 0}.pieces();
    ASSERT_LE(pieces, 1024u);
    ASSERT_LE(pieces * how.passes, most_save_pieces);
  }
  const auto pieces = [](uint64_t splits, const piece_sizing& how) {
    return save_plan::section{0, 0, splits, splits_a_piece(splits, how), 0}.pieces();
  };
  EXPECT_EQ(pieces(1'000'000, {.rows = true}), 64u);
  EXPECT_EQ(pieces(26'214'400, {.rows = true}), 100u);
  EXPECT_EQ(pieces(6400, {.rows = true}), 64u);
  EXPECT_EQ(pieces(64'000, {.rows = true, .workers = 20}), 160u);
  EXPECT_EQ(pieces(1000, {.rows = false}), 1000u);
  EXPECT_EQ(pieces(10'000, {.rows = false}), 1000u);
  EXPECT_EQ(pieces(1000, {.rows = true, .passes = 2000}), 1u);
  EXPECT_EQ(pieces(0, {}), 0u);
}

TEST(SavePieces, HaveFoldersThatSortAsTheyDo) {
  EXPECT_EQ(piece_folder("/x", 7), "/x/pieces/00007");
  EXPECT_LT(piece_folder("/x", 9999), piece_folder("/x", most_save_pieces - 1));
}

} // namespace
} // namespace headrace::detail
