#include "tests/pipeline/sources/source_rows.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <random>

namespace headrace::detail {
namespace {

using test::files;
using test::pack;
using test::rows_of;
using test::scratch_folder;
using testing::AllOf;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;

std::vector<std::string> read_json(const std::string& text, std::vector<field_format> fields) {
  scratch_folder folder;
  return rows_of(
    make_json_lines(files({folder.write("t.jsonl", text)}), std::move(fields)).value());
}

TEST(JsonLines, FieldsAreReadByTheirKeys) {
  EXPECT_THAT(
    read_json(R"({"id": 1, "name": "a\n\u00e4", "other": {"id": 5}, "ok": true, "x": 0.5})"
              "\n\n  \r\n"
              R"({"x": -3, "ok": false, "name": "", "id": -2, "id": 7})",
              {field("name", dtype::string), field("id", dtype::int32), field("ok", dtype::boolean),
               field("x", dtype::float32)}),
    ElementsAre("'a\n\xc3\xa4'|1|1|0.5", "''|7|0|-3"));
  EXPECT_THAT(read_json("", {field("a", dtype::int64)}), ElementsAre());
}

TEST(JsonLines, NumbersAreReadExactly) {
  EXPECT_THAT(
    read_json(R"({"a": -9223372036854775808, "b": 18446744073709551615, "c": 1e-300})",
              {field("a", dtype::int64), field("b", dtype::uint64), field("c", dtype::float64)}),
    ElementsAre("-9223372036854775808|18446744073709551615|1e-300"));
}

TEST(JsonLines, ArraysAreTensors) {
  const std::vector<field_format> fields{field("m", tensor_spec{dtype::int64, {shape::unknown, 2}}),
                                         field("w", tensor_spec{dtype::string, {shape::unknown}}),
                                         field("v", tensor_spec{dtype::float64, {2}})};
  EXPECT_THAT(read_json(R"({"m": [[1, 2], [3, 4]], "w": ["a"], "v": [1, 2]})"
                        "\n"
                        R"({"m": [], "w": [], "v": [3, 4]})"
                        "\n"
                        R"({"m": [[5, 6]], "w": ["b", "c"], "v": [5, 6]})",
                        fields),
              ElementsAre("[2, 2]{1 2 3 4}|[1]{'a'}|[2]{1 2}", "[0, 2]{}|[0]{}|[2]{3 4}",
                          "[1, 2]{5 6}|[2]{'b' 'c'}|[2]{5 6}"));
  EXPECT_THAT(read_json(R"({"m": [[1, 2], [3]], "w": [], "v": [1, 2]})"
                        "\n"
                        R"({"m": [[1, 2]], "w": [], "v": [1, 2, 3]})"
                        "\n"
                        R"({"m": [1], "w": [], "v": [1, 2]})",
                        fields),
              ElementsAre(EndsWith("line 1: key 'm': an array of 1 where 2 are expected: it must "
                                   "be int64[?, 2]"),
                          EndsWith("line 2: key 'v': an array of 3 where 2 are expected: it must "
                                   "be float64[2]"),
                          EndsWith("line 3: key 'm': 1 is a number, not an array: it must be "
                                   "int64[?, 2]")));
}

TEST(JsonLines, MissingAndNullHaveSomethingToStandInOrAreErrors) {
  EXPECT_THAT(read_json("{\"a\": null}\n{}\n{\"a\": 1}", {field("a", int64_t{7})}),
              ElementsAre("7", "7", "1"));
  EXPECT_THAT(read_json("{\"a\": null}\n{}\n{\"a\": 1}", {field("a", dtype::int64)}),
              ElementsAre(AllOf(HasSubstr("!invalid_argument: json_lines: '"),
                                EndsWith("t.jsonl' line 1: key 'a': it is null, and has nothing "
                                         "to stand in")),
                          EndsWith("line 2: key 'a': it is missing, and has nothing to stand in"),
                          "1"));
}

TEST(JsonLines, WrongLinesAreErrorsAndTheNextOnesCome) {
  const auto rows =
    read_json("{\"a\": 1\n[1]\n{\"a\": \"1\"}\n{\"a\": 1.5}\n{\"a\": 300}\nnothing\n"
              "{\"a\": 2}\n",
              {field("a", dtype::uint8)});
  ASSERT_EQ(rows.size(), 7u);
  EXPECT_THAT(rows[0], HasSubstr("line 1: no JSON"));
  EXPECT_THAT(rows[1], EndsWith("line 2: [1] is an array, not an object"));
  EXPECT_THAT(rows[2], EndsWith("line 3: key 'a': \"1\" is a string, not an integer"));
  EXPECT_THAT(rows[3], EndsWith("line 4: key 'a': 1.5 is a number, not an integer"));
  EXPECT_THAT(rows[4], EndsWith("line 5: key 'a': 300 is out of the range of uint8"));
  EXPECT_THAT(rows[5], HasSubstr("line 6: no JSON"));
  EXPECT_EQ(rows[6], "2");
}

TEST(JsonLines, ManyLinesOfManyLengthsComeWholeFromCompressedFilesToo) {
  scratch_folder folder;
  std::string text;
  std::vector<std::string> want;
  for (int i = 0; i < 20000; ++i) {
    const std::string word(i % 7000 == 0 ? 400'000 : static_cast<size_t>(i % 50), 'w');
    text += fmt::format("{{\"n\": {}, \"w\": \"{}\"}}\n", i, word);
    want.push_back(fmt::format("{}|'{}'", i, word));
  }
  const std::vector<field_format> fields{field("n", dtype::int64), field("w", dtype::string)};
  EXPECT_EQ(rows_of(make_json_lines(files({folder.write("a", text)}), fields).value()), want);
  EXPECT_EQ(rows_of(make_json_lines(files({folder.write("z", pack(text, 15))}), fields,
                                    file_compression::zlib)
                      .value()),
            want);
}

TEST(JsonLines, DamagedLinesAreRowsOrErrors) {
  scratch_folder folder;
  std::mt19937_64 random{5};
  const std::string line =
    R"({"n": [[1, 2], [3, -4]], "w": "a\u00e4\n", "x": 1.5e3, "o": {"k": []}})";
  const std::vector<field_format> fields{
    field("n", tensor_spec{dtype::int16, {shape::unknown, shape::unknown}}),
    field("w", dtype::string), field("x", 0.5F)};
  for (int i = 0; i < 100; ++i) {
    std::string text;
    for (int row = 0; row < 20; ++row) {
      auto damaged = line;
      for (auto n = random() % 3; n != 0; --n)
        damaged[random() % damaged.size()] = "{}[]\",:1-e\0"[random() % 11];
      text += damaged + "\n";
    }
    auto graph = make_json_lines(files({folder.write("t", text)}), fields).value();
    const auto rows = test::read_all(graph);
    EXPECT_EQ(rows.size(), 20u);
    ASSERT_EQ(rows, test::read_all(graph, test::always(1))) << text;
  }
}

TEST(JsonLines, MissingAndDamagedFilesAreErrorsThatNameThem) {
  EXPECT_THAT(rows_of(make_json_lines(files({"/nowhere/x"}), {field("a", dtype::int64)}).value()),
              ElementsAre(HasSubstr("!not_found: json_lines: cannot open '/nowhere/x'")));
  scratch_folder folder;
  auto packed = pack("{\"a\": 1}\n", 31);
  auto cut = folder.write("cut", packed.substr(0, packed.size() - 3));
  EXPECT_THAT(
    rows_of(
      make_json_lines(files({cut}), {field("a", dtype::int64)}, file_compression::gzip).value())
      .back(),
    AllOf(HasSubstr("data_loss"), HasSubstr(cut)));
}

TEST(JsonLines, WrongArgumentsAreRefused) {
  const auto why = [](std::vector<field_format> fields) {
    return to_string(make_json_lines(files({"x"}), std::move(fields)).status());
  };
  EXPECT_THAT(why({}), HasSubstr("json_lines: there are no fields"));
  EXPECT_THAT(why({field("", dtype::int64)}), HasSubstr("field 0 has no name"));
  EXPECT_THAT(why({field("a", tensor_spec{dtype::int64, shape::unknown_rank()})}),
              HasSubstr("it must have a rank"));
}

} // namespace
} // namespace headrace::detail
