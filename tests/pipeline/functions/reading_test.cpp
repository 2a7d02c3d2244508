#include "headrace/pipeline/functions/math.hpp"
#include "tests/pipeline/functions/everywhere.hpp"
#include "tests/pipeline/support/rows.hpp"

namespace headrace::detail {
namespace {

using namespace test;
using list = std::vector<std::string>;

TEST(ReadFile, GivesTheBytesOfEachFile) {
  const test::scratch_folder folder;
  const auto some = folder.write("some", {"x\0\n", 3}), empty = folder.write("empty", "");
  const auto none = folder.path() + "/none";
  auto out = apply_everywhere({texts({some, empty, none, some})}, [](expr s) {
    return std::tuple{io::read_file(s), io::read_file(stack({s, s}))};
  });
  EXPECT_EQ(out.columns[0].string(0), std::string_view("x\0\n", 3));
  EXPECT_EQ(out.columns[0].string(1), "");
  EXPECT_EQ(out.columns[1].string(7), std::string_view("x\0\n", 3));
  ASSERT_EQ(out.errors.size(), 1u);
  EXPECT_EQ(out.errors[0].row, 2u);
  EXPECT_EQ(out.errors[0].why.code(), status_code::not_found);
  EXPECT_NE(out.errors[0].why.message().find(none), std::string::npos);
  EXPECT_EQ(thrown_by([] { io::read_file(1); }),
            "io.read_file: the operand is int32[]; names of files are needed");
}

TEST(ReadFile, OfAFolderIsAnError) {
  const test::scratch_folder folder;
  auto out = apply({texts({folder.path()})}, [](expr s) { return io::read_file(s); });
  EXPECT_EQ(out.errors.size(), 1u);
}

TEST(TensorProto, GivesEachTensorBack) {
  auto out = apply_everywhere({texts({"a", "", "longer"})}, [](expr s) {
    const auto back = [](const expr& x) {
      return io::parse_tensor(io::serialize_tensor(x), x.type());
    };
    const auto n = strings::length(s);
    return std::tuple{back(s), back(stack({n, n})), back(cast<double>(n)), back(n > 0)};
  });
  EXPECT_EQ(out.errors.size(), 0u);
  EXPECT_EQ(out.columns[0].string(2), "longer");
  EXPECT_EQ(out.columns[1].values<int32_t>()[5], 6);
  EXPECT_EQ(out.columns[2].values<double>()[1], 0.0);
  EXPECT_FALSE(out.columns[3].values<bool>()[1]);
}

// The spec has no rank, so only the rows with values show which rank the results have.
TEST(TensorProto, RowsThatFailTakeTheRankOfTheOthers) {
  const auto saved = apply({scalars<int64_t>({1, 2})}, [](expr x) {
    const auto six = constant(std::vector<int64_t>{0, 1, 2, 3, 4, 5}) * x;
    return std::pair{io::serialize_tensor(reshape(six, {2, 3})),
                     io::serialize_tensor(strings::as_string(reshape(six, {3, 2})))};
  });
  for (const size_t text : {0, 1}) {
    const auto& good = saved.columns[text];
    const std::string one{good.string(0)}, two{good.string(1)};
    const auto type = text == 0 ? dtype::int64 : dtype::string;
    for (const auto& rows : {list{"bad", one, two}, list{one, "bad", two},
                             list{"bad", "bad", two, "bad", one, "bad"}}) {
      const auto read = [type](const expr& s) { return io::parse_tensor(s, type); };
      const auto out = apply_everywhere({texts(rows)}, [&](expr s) {
        const auto x = read(s);
        return std::tuple{x[0],
                          x[0][1],
                          expand_dims(x, 0),
                          stack({x, x}),
                          squeeze(expand_dims(x, 0), {0}),
                          transpose(x, {1, 0})};
      });
      EXPECT_EQ(out.errors.size(), static_cast<size_t>(std::ranges::count(rows, "bad")))
        << print_rows(out).back();
      if (text == 0)
        apply_everywhere({texts(rows)}, [&](expr s) {
          const auto x = read(s);
          return std::tuple{reduce_sum(x, {0}), reduce_sum(x), argmax(x, 1), x + x, sort(x),
                            shape_of(x[1])};
        });
    }
  }
}

TEST(TensorProto, OfDamagedBytesIsAnErrorOfTheRow) {
  auto out = apply_everywhere({texts({"", "\x0a", "no tensor at all"})},
                              [](expr s) { return io::parse_tensor(s, dtype::int64); });
  EXPECT_EQ(out.errors.size(), 3u);
}

/// The fields as a tuple, which a function can return.
expr_structure fields_of(const std::vector<expr>& fields) {
  return expr_structure::tuple({fields.begin(), fields.end()});
}

TEST(DecodeCsv, ReadsTheFieldsOfLinesByType) {
  auto out =
    apply_everywhere({texts({"1,2.5,\"a,\"\"b\"\"\",7", "-3,,c,", "NA,1e3,,255"})}, [](expr s) {
      return fields_of(io::decode_csv(
        s, {{dtype::int32, -1}, {dtype::float64, 0.5}, {dtype::string, "none"}, {dtype::uint8, 9}},
        {.na_value = "NA"}));
    });
  EXPECT_EQ(errors_of(out), list{});
  EXPECT_EQ(values_of<int32_t>(out.columns[0]), (std::vector<int32_t>{1, -3, -1}));
  EXPECT_EQ(values_of<double>(out.columns[1]), (std::vector<double>{2.5, 0.5, 1000}));
  EXPECT_EQ(texts_of(out.columns[2]), (list{"a,\"b\"", "c", "none"}));
  EXPECT_EQ(values_of<uint8_t>(out.columns[3]), (std::vector<uint8_t>{7, 9, 255}));
}

TEST(DecodeCsv, ReadsSelectedFieldsOfSeveralLines) {
  auto out = apply_everywhere({texts({"a|1|x|2", "b|3|y|4|5"})}, [](expr s) {
    return fields_of(io::decode_csv(stack({s, "c|6|z|\"7"}), {{dtype::string}, {dtype::string}},
                                    {.delimiter = '|', .quotes = false, .select = {0, 3}}));
  });
  EXPECT_EQ(errors_of(out), list{});
  EXPECT_EQ(texts_of(out.columns[0]), (list{"a", "c", "b", "c"}));
  EXPECT_EQ(texts_of(out.columns[1]), (list{"2", "\"7", "4", "\"7"}));
  EXPECT_EQ(to_string(out.columns[1].row_shape()), "[2]");
}

TEST(DecodeCsv, ErrorsNameTheFieldAndWhatWasWanted) {
  auto out = apply_everywhere(
    {texts({"1,a", "x,a", "1", "1,a,b", ",a", "1,\"a", "2,b", "3,c\n", "4\r,d", ""})}, [](expr s) {
      return fields_of(io::decode_csv(s, {{dtype::int64}, {dtype::string}}));
    });
  const auto errors = errors_of(out);
  ASSERT_EQ(errors.size(), 8u);
  EXPECT_EQ(errors[0].substr(0, 25), "1: io.decode_csv: field 0");
  EXPECT_EQ(errors[1], "2: io.decode_csv: a line has 1 fields; 2 are asked for");
  EXPECT_EQ(errors[2], "3: io.decode_csv: a line has 3 fields; 2 are asked for");
  EXPECT_EQ(errors[3], "4: io.decode_csv: field 0: it is missing, and has no default");
  EXPECT_EQ(errors[4], "5: io.decode_csv: field 1: its quotes do not fit");
  EXPECT_EQ(errors[5],
            "7: io.decode_csv: field 1: a line ends in it, which is allowed in quotes only");
  EXPECT_EQ(errors[6].substr(0, 34), "8: io.decode_csv: field 0: a line ");
  EXPECT_EQ(errors[7], "9: io.decode_csv: a line has 0 fields; 2 are asked for");
  EXPECT_EQ(out.columns[0].values<int64_t>()[6], 2);
  EXPECT_EQ(out.columns[1].string(6), "b");
}

TEST(DecodeCsv, WrongArgumentsAreNamed) {
  const auto wrong = [](std::vector<io::csv_field> fields, io::csv_format format) {
    return thrown_by([&] { io::decode_csv("a", fields, format); });
  };
  EXPECT_EQ(wrong({}, {}), "io.decode_csv: no fields asked for; name at least one");
  EXPECT_EQ(wrong({{dtype::boolean}}, {}),
            "io.decode_csv: field 0 is bool; strings, integers and floats can be read");
  EXPECT_EQ(wrong({{dtype::string}}, {.select = {1, 2}}),
            "io.decode_csv: 2 fields are selected, and 1 have a type");
  EXPECT_EQ(wrong({{dtype::string}, {dtype::string}}, {.select = {2, 1}}),
            "io.decode_csv: the selected fields must ascend, from 0 on");
}

} // namespace
} // namespace headrace::detail
