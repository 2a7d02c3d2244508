#include "tests/pipeline/sources/source_rows.hpp"
#include "tests/pipeline/support/tar.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <gmock/gmock.h>

namespace headrace::detail {
namespace {

using test::files;
using test::pack;
using test::rows_of;
using test::scratch_folder;
using test::tar_member;
using testing::AllOf;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;

std::string archive(const std::vector<std::pair<std::string, std::string>>& members) {
  std::string out;
  for (const auto& [name, content] : members) out += tar_member(name, content);
  return out + test::tar_end();
}

dataset_ptr samples(std::vector<std::string> names, std::vector<std::string> extensions,
                    bool skip = false) {
  return make_tar_samples(files(std::move(names)), std::move(extensions), skip).value();
}

TEST(TarSamples, MembersOfOneKeyAreOneSample) {
  scratch_folder folder;
  const auto bytes = archive({{"d.x/0001.JPG", "first"},
                              {"d.x/0001.cls", "1"},
                              {"d.x/0001.seg.png", "mask"},
                              {"d.x/0002.cls", ""},
                              {"d.x/0002.jpg", std::string(70'000, 'p')},
                              {"d.x/0002.seg.png", "m"}});
  const std::vector<std::string> want{"'d.x/0001'|'first'|'mask'|'1'",
                                      "'d.x/0002'|'" + std::string(70'000, 'p') + "'|'m'|''"};
  auto graph = samples({folder.write("a.tar", bytes)}, {"jpg", "seg.png", "cls"});
  EXPECT_EQ(to_string(graph->spec), "{__key__: string[], jpg: string[], seg.png: string[], cls: "
                                    "string[]}");
  EXPECT_EQ(rows_of(graph), want);
  EXPECT_EQ(
    rows_of(samples({folder.write("a.tar.gz", pack(bytes, 31))}, {"jpg", "seg.png", "cls"})), want);
}

TEST(TarSamples, OtherMembersArePassedOver) {
  scratch_folder folder;
  const auto file = folder.write("a.tar", tar_member("d/", "", '5')
                                            + archive({{"README", "no sample"},
                                                       {".hidden", "nor this"},
                                                       {"d/a.txt", "x"},
                                                       {"d/a.jpg", "1"},
                                                       {"d/b.jpeg", "2"}}));
  EXPECT_THAT(rows_of(samples({file}, {"jpg;jpeg"})), ElementsAre("'d/a'|'1'", "'d/b'|'2'"));
}

TEST(TarSamples, WithoutAMemberAreErrorsOrLeftOut) {
  scratch_folder folder;
  const auto file = folder.write(
    "a.tar", archive({{"a.x", "1"}, {"a.y", "2"}, {"b.y", "3"}, {"c.x", "4"}, {"c.y", "5"}}));
  EXPECT_THAT(
    rows_of(samples({file}, {"x", "y"})),
    ElementsAre("'a'|'1'|'2'",
                "!not_found: tar_samples: '" + file + "' sample 'b': it has no 'x', but y",
                "'c'|'4'|'5'"));
  EXPECT_THAT(rows_of(samples({file}, {"x", "y"}, true)),
              ElementsAre("'a'|'1'|'2'", "'c'|'4'|'5'"));
}

TEST(TarSamples, WithTwoOfAMemberAreErrors) {
  scratch_folder folder;
  const auto file = folder.write("a.tar", archive({{"a.x", "1"}, {"a.x", "2"}, {"b.x", "3"}}));
  EXPECT_THAT(
    rows_of(samples({file}, {"x"})),
    ElementsAre(AllOf(HasSubstr("!data_loss"), EndsWith("it has more than one 'x'")), "'b'|'3'"));
}

TEST(TarSamples, ManyComeInOrderFromManyShards) {
  scratch_folder folder;
  std::vector<std::string> shards, want;
  for (int s = 0; s < 3; ++s) {
    std::vector<std::pair<std::string, std::string>> members;
    for (int i = 0; i < 200; ++i) {
      members.push_back({fmt::format("{}-{}.x", s, i), fmt::format("{}", i)});
      want.push_back(fmt::format("'{}-{}'|'{}'", s, i, i));
    }
    shards.push_back(folder.write(fmt::format("{}.tar", s), archive(members)));
  }
  EXPECT_EQ(rows_of(samples(shards, {"x"})), want);
}

TEST(TarSamples, CutOrDamagedArchivesGiveTheSamplesBeforeAndAnErrorThatNamesThem) {
  scratch_folder folder;
  const auto bytes = archive({{"a.x", "1"}, {"b.x", std::string(5000, 'b')}, {"c.x", "3"}});
  for (size_t size = 0; size <= bytes.size() - 1024; size += 256) {
    const auto cut = folder.write("cut.tar", bytes.substr(0, size));
    const auto rows = rows_of(samples({cut}, {"x"}));
    ASSERT_FALSE(rows.empty()) << size;
    EXPECT_THAT(rows.back(), AllOf(HasSubstr("!data_loss: tar_samples: '" + cut))) << size;
  }
  auto damaged = bytes;
  // The last header is damaged. Its member could belong to sample b, so b is not given.
  damaged[1024 + 512 + 5120 + 3] ^= 1;
  const auto rows = rows_of(samples({folder.write("bad.tar", damaged)}, {"x"}));
  EXPECT_THAT(rows, ElementsAre("'a'|'1'", AllOf(HasSubstr("data_loss"), HasSubstr("bad.tar"),
                                                 HasSubstr("offset"))));
  auto packed = pack(bytes, 31);
  EXPECT_THAT(
    rows_of(samples({folder.write("cut.gz", packed.substr(0, packed.size() / 2))}, {"x"})).back(),
    AllOf(HasSubstr("data_loss"), HasSubstr("cut.gz")));
  EXPECT_THAT(rows_of(samples({folder.write("text", "no archive")}, {"x"})),
              ElementsAre(HasSubstr("data_loss")));
  EXPECT_THAT(rows_of(samples({"/nowhere/x.tar"}, {"x"})),
              ElementsAre(HasSubstr("!not_found: tar_samples: cannot open '/nowhere/x.tar'")));
}

TEST(TarSamples, FilesAreTheSplits) {
  scratch_folder folder;
  auto a = folder.write("a", archive({{"a.x", "1"}})),
       b = folder.write("b", archive({{"b.x", "2"}}));
  test::scripted_splits splits;
  splits.script = {{0, 0, split_range{1, 1}}};
  iterator_context context;
  context.splits = &splits;
  auto from = make_iterator(samples({a, b}, {"x"}), context).value();
  EXPECT_THAT(test::read_all(*from), ElementsAre("'b'|'2'"));
}

TEST(TarSamples, WrongArgumentsAreRefused) {
  const auto why = [](std::vector<std::string> extensions) {
    return to_string(make_tar_samples(files({"x"}), std::move(extensions)).status());
  };
  EXPECT_THAT(why({}), HasSubstr("tar_samples: there are no extensions"));
  EXPECT_THAT(why({"a;"}), HasSubstr("names an empty one"));
  EXPECT_THAT(why({"a;b", "b"}), HasSubstr("extension 'b' is asked for twice"));
}

} // namespace
} // namespace headrace::detail
