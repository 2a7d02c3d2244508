#include "tests/pipeline/sources/source_rows.hpp"
#include "tests/support/paths.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <random>

namespace headrace::detail {
namespace {

using test::always;
using test::files;
using test::pack;
using test::rows_of;
using test::scratch_folder;
using testing::AllOf;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;

/// The rows of one CSV file that contains `text`.
std::vector<std::string> read(const std::string& text, std::vector<field_format> columns,
                              csv_format format = {}) {
  scratch_folder folder;
  return rows_of(
    make_csv(files({folder.write("t.csv", text)}), std::move(columns), std::move(format)).value());
}

std::vector<field_format> number_and_word() {
  return {field("", dtype::int64), field("", dtype::string)};
}

TEST(Csv, RowsAreTuplesOfScalars) {
  EXPECT_THAT(read("1,a\n-2,b c\r\n+3 ,\"d\"\n", number_and_word()),
              ElementsAre("1|'a'", "-2|'b c'", "3|'d'"));
  EXPECT_THAT(read("", number_and_word()), ElementsAre());
  // As in tf.data, an empty line is a row with too few fields, and a carriage return alone ends a
  // line.
  EXPECT_THAT(read("\r\n1,a\n\n2,b\r3,c", number_and_word()),
              ElementsAre(EndsWith("line 1: there are 1 fields; there must be 2"), "1|'a'",
                          EndsWith("line 3: there are 1 fields; there must be 2"), "2|'b'",
                          "3|'c'"));
}

TEST(Csv, EveryTypeIsRead) {
  EXPECT_THAT(
    read("-128,65535,1.5,-2e300,true,0.25\n127,0,inf,3,0,1\n",
         {field("", dtype::int8), field("", dtype::uint16), field("", dtype::float32),
          field("", dtype::float64), field("", dtype::boolean), field("", dtype::float64)}),
    ElementsAre("-128|65535|1.5|-2e+300|1|0.25", "127|0|inf|3|0|1"));
}

TEST(Csv, QuotedFieldsHoldDelimitersQuotesAndLines) {
  EXPECT_THAT(read("1,\"a,b\"\n2,\"say \"\"hi\"\"\"\n3,\"two\nlines\r\n\"\n", number_and_word()),
              ElementsAre("1|'a,b'", "2|'say \"hi\"'", "3|'two\nlines\r\n'"));
  csv_format plain;
  plain.quotes = false;
  EXPECT_THAT(read("1,\"a\"\"\n", number_and_word(), plain), ElementsAre("1|'\"a\"\"'"));
}

TEST(Csv, OtherDelimitersAreTakenAndReturnsWithinQuotesKept) {
  csv_format format;
  format.delimiter = '\t';
  EXPECT_THAT(read("1\ta,b\n2\t\"x\ry\"\n", number_and_word(), format),
              ElementsAre("1|'a,b'", "2|'x\ry'"));
}

TEST(Csv, MissingValuesHaveSomethingToStandInOrAreErrors) {
  csv_format format;
  format.na_value = "NA";
  EXPECT_THAT(read(",x\nNA,NA\n5,\n", {field("", int64_t{7}), field("", "none")}, format),
              ElementsAre("7|'x'", "7|'none'", "5|'none'"));
  EXPECT_THAT(read("1,a\n,b\n3,c\n", number_and_word()),
              ElementsAre("1|'a'",
                          AllOf(HasSubstr("!invalid_argument: csv: '"),
                                HasSubstr("t.csv' line 2: column 0 is missing, and has "
                                          "nothing to stand in")),
                          "3|'c'"));
}

TEST(Csv, ColumnsAreSelectedByPlaceOrByNameInTheHeader) {
  const std::string text = "id,score,name\n1,0.5,a\n2,1.5,b\n";
  csv_format by_place{.header = true, .select = {0, 2}};
  EXPECT_THAT(read(text, number_and_word(), by_place), ElementsAre("1|'a'", "2|'b'"));
  csv_format by_name{.header = true};
  EXPECT_THAT(read(text, {field("name", dtype::string), field("id", dtype::int64)}, by_name),
              ElementsAre("'a'|1", "'b'|2"));
  scratch_folder folder;
  auto graph = make_csv(files({folder.write("a", text)}), {field("id", dtype::int64)}, by_name);
  EXPECT_EQ(to_string((*graph)->spec), "{id: int64[]}");
}

TEST(Csv, AHeaderWithoutTheColumnIsAnErrorThatNamesWhatThereIs) {
  csv_format header{.header = true};
  EXPECT_THAT(read("id,score\n1,2\n", {field("age", dtype::int64)}, header),
              ElementsAre(AllOf(HasSubstr("!not_found: csv: '"),
                                EndsWith("' line 1: the header has no column 'age'; it has id, "
                                         "score"))));
  EXPECT_THAT(read("a,b,c\n1,2\n", number_and_word(), header),
              ElementsAre(EndsWith("the header has 3 columns; 2 are needed")));
}

TEST(Csv, EachFileHasItsOwnHeader) {
  scratch_folder folder;
  auto a = folder.write("a", "x,y\n1,2\n"), b = folder.write("b", "\xef\xbb\xbfy,x\n3,4\n"),
       empty = folder.write("empty", "");
  auto graph = make_csv(files({a, empty, b}), {field("x", dtype::int64)}, {.header = true}).value();
  EXPECT_THAT(rows_of(graph), ElementsAre("1", "4"));
}

TEST(Csv, WrongRowsAreErrorsWithFileLineAndColumnAndTheNextOnesCome) {
  const auto rows =
    read("id,name\n"
         "1,\"two\nlines\"\n"
         "x,b\n"
         "3\n"
         "4,c,d\n"
         "5,e\"f\n"
         "6,\"g\"h\n"
         "99999999999999999999,i\n"
         "7,j\n",
         {field("id", dtype::int64), field("name", dtype::string)}, {.header = true});
  ASSERT_EQ(rows.size(), 8u);
  EXPECT_EQ(rows[0], "1|'two\nlines'");
  EXPECT_THAT(rows[1], EndsWith("t.csv' line 4: column 'id': 'x' is no int64"));
  EXPECT_THAT(rows[2], EndsWith("line 5: there are 1 fields; there must be 2"));
  EXPECT_THAT(rows[3], EndsWith("line 6: there are 3 fields; there must be 2"));
  EXPECT_THAT(
    rows[4],
    EndsWith("line 7: column 'name': a quote within a field that does not begin with one"));
  EXPECT_THAT(rows[5], EndsWith("line 8: column 'name': text after the closing quote"));
  EXPECT_THAT(rows[6], AllOf(HasSubstr("!invalid_argument"), HasSubstr("line 9: column 'id'")));
  EXPECT_EQ(rows[7], "7|'j'");
}

TEST(Csv, ABadRowIsOneRowWhateverEndsItsLine) {
  for (const std::string end : {"\n", "\r", "\r\n"})
    EXPECT_THAT(
      read("1,a" + end + "2,\"b\"c" + end + "3,d" + end + "4,e\"" + end + "5,f", number_and_word()),
      ElementsAre("1|'a'", HasSubstr("line 2"), "3|'d'", HasSubstr("line 4"), "5|'f'"))
      << testing::PrintToString(end);
}

TEST(Csv, AQuoteThatStaysOpenIsAnErrorAtItsLine) {
  EXPECT_THAT(read("1,a\n2,\"b\n3,c\n", number_and_word()),
              ElementsAre("1|'a'", EndsWith("line 2: column 1: the file ends within quotes")));
}

TEST(Csv, OneColumnMayHaveEmptyLines) {
  EXPECT_THAT(read("a\n\nb\n", {field("", "none")}), ElementsAre("'a'", "'none'", "'b'"));
}

TEST(Csv, RowsLongerThanAnyWindowAndCompressedFilesComeWhole) {
  scratch_folder folder;
  std::string text;
  std::vector<std::string> want;
  const std::string wide(700'000, 'w');
  for (int i = 0; i < 20000; ++i) {
    const auto word = i % 5000 == 77 ? wide : fmt::format("word \"\"{}\"\"\n", i);
    text += fmt::format("{},\"{}\",{}.5\n", i, word, i);
    want.push_back(
      fmt::format("{}|'{}'|{}.5", i, i % 5000 == 77 ? wide : fmt::format("word \"{}\"\n", i), i));
  }
  const std::vector<field_format> columns{field("", dtype::int64), field("", dtype::string),
                                          field("", dtype::float64)};
  EXPECT_EQ(rows_of(make_csv(files({folder.write("a", text)}), columns).value()), want);
  EXPECT_EQ(rows_of(make_csv(files({folder.write("z", pack(text, 31))}), columns, {},
                             file_compression::gzip)
                      .value()),
            want);
}

TEST(Csv, RandomTablesComeBack) {
  scratch_folder folder;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random{seed};
    const auto columns = 1 + random() % 4;
    std::string text;
    std::vector<std::string> want;
    for (int row = 0; row < 5000; ++row) {
      std::string shown;
      for (size_t c = 0; c < columns; ++c) {
        std::string field;
        const bool quoted = random() % 2 == 0;
        for (auto n = 1 + random() % (random() % 50 == 0 ? 300 : 12); n != 0; --n)
          field += quoted ? "ab,\"\n\r;"[random() % 7] : "ab;'"[random() % 4];
        shown += (c == 0 ? "'" : "|'") + field + "'";
        if (quoted) {
          for (size_t i = 0; i < field.size(); ++i)
            if (field[i] == '"')
              field.insert(i++, 1, '"');
          field = '"' + field + '"';
        }
        text += (c == 0 ? "" : ",") + field;
      }
      text += random() % 2 == 0 ? "\n" : "\r\n";
      want.push_back(shown);
    }
    if (random() % 2 == 0)
      text.resize(text.find_last_not_of("\r\n") + 1);
    const std::vector<field_format> words(columns, field("", dtype::string));
    auto graph = make_csv(files({folder.write("t.csv", text)}), words).value();
    ASSERT_EQ(test::read_all(graph, [&] { return 1 + random() % 3000; }), want);
  }
}

TEST(Csv, AnyBytesAreRowsOrErrors) {
  scratch_folder folder;
  std::mt19937_64 random{5};
  for (int i = 0; i < 300; ++i) {
    std::string text;
    for (auto n = random() % 400; n != 0; --n) text += "1,\"\n\ra.-"[random() % 8];
    auto graph =
      make_csv(files({folder.write("t.csv", text)}), {field("", int64_t{0}), field("", "none")})
        .value();
    const auto rows = test::read_all(graph);
    ASSERT_EQ(rows, test::read_all(graph, always(1))) << text;
  }
}

TEST(Csv, MissingAndDamagedFilesAreErrorsThatNameThem) {
  EXPECT_THAT(rows_of(make_csv(files({"/nowhere/x"}), number_and_word()).value()),
              ElementsAre(HasSubstr("!not_found: csv: cannot open '/nowhere/x'")));
  scratch_folder folder;
  auto packed = pack("1,a\n2,b\n", 31);
  auto cut = folder.write("cut", packed.substr(0, packed.size() - 3));
  EXPECT_THAT(
    rows_of(make_csv(files({cut}), number_and_word(), {}, file_compression::gzip).value()).back(),
    AllOf(HasSubstr("data_loss"), HasSubstr(cut)));
}

TEST(Csv, TheDigitsTableIsReadAsAnyOtherReaderDoes) {
  std::vector<field_format> columns;
  for (int i = 0; i < 65; ++i) columns.push_back(field("", dtype::int32));
  auto graph =
    make_csv(files({test::data_path("digits/digits.csv")}), columns, {.header = true}).value();
  auto lines =
    make_skip(make_text_lines(files({test::data_path("digits/digits.csv")})).value(), 1).value();
  const auto rows = test::read_all(graph);
  auto want = test::read_all(lines);
  ASSERT_EQ(rows.size(), 1797u);
  for (auto& line : want) {
    line = line.substr(1, line.size() - 2);
    std::replace(line.begin(), line.end(), ',', '|');
  }
  EXPECT_EQ(rows, want);
}

TEST(Csv, FilesAreTheSplits) {
  scratch_folder folder;
  auto a = folder.write("a", "1,a\n"), b = folder.write("b", "2,b\n3,c\n");
  test::scripted_splits splits;
  splits.script = {{0, 0, split_range{1, 1}}};
  iterator_context context;
  context.splits = &splits;
  auto from = make_iterator(make_csv(files({a, b}), number_and_word()).value(), context).value();
  auto rows = from->next({.rows = 10});
  ASSERT_TRUE(rows);
  EXPECT_THAT(test::origins_of(*rows), ElementsAre("0/0/1", "0/0/1"));
}

TEST(Csv, WrongArgumentsAreRefused) {
  const auto why = [](std::vector<field_format> columns, csv_format format = {}) {
    return to_string(make_csv(files({"x"}), std::move(columns), std::move(format)).status());
  };
  EXPECT_THAT(why({}), HasSubstr("csv: there are no columns"));
  EXPECT_THAT(why({field("a", dtype::int64), field("a", dtype::int64)}),
              HasSubstr("two columns are named 'a'"));
  EXPECT_THAT(why({field("a", dtype::int64), field("", dtype::int64)}),
              HasSubstr("name all or none"));
  EXPECT_THAT(why({field("a", tensor_spec{dtype::int64, {2}})}), HasSubstr("it must be a scalar"));
  EXPECT_THAT(why({field("a", dtype::complex64)}), HasSubstr("it must be a real number"));
  auto odd = field("a", dtype::int64);
  odd.missing = field("", "x").missing;
  EXPECT_THAT(why({odd}), HasSubstr("column 'a' is int64[], but string[] stands in"));
  EXPECT_THAT(why(number_and_word(), {.delimiter = '"'}), HasSubstr("delimiter"));
  EXPECT_THAT(why(number_and_word(), {.select = {1}}), HasSubstr("1 columns are selected"));
  EXPECT_THAT(why(number_and_word(), {.select = {1, 1}}), HasSubstr("must ascend"));
}

} // namespace
} // namespace headrace::detail
