#include "tests/pipeline/functions/support.hpp"

namespace headrace::detail {
namespace {

using namespace test;
using list = std::vector<std::string>;

TEST(Strings, ChangeTheCaseOfAsciiLettersOnly) {
  std::string all;
  for (int c = 0; c < 256; ++c) all += static_cast<char>(c);
  auto out = apply({texts({all, "", "Grüße, Welt", "az AZ @[`{"})}, [](expr s) {
    return std::tuple{strings::upper(s), strings::lower(s)};
  });
  for (int c = 0; c < 256; ++c) {
    const auto plain = static_cast<char>(c);
    const char up = plain >= 'a' && plain <= 'z' ? static_cast<char>(plain - 32) : plain;
    const char low = plain >= 'A' && plain <= 'Z' ? static_cast<char>(plain + 32) : plain;
    EXPECT_EQ(out.columns[0].string(0)[static_cast<size_t>(c)], up);
    EXPECT_EQ(out.columns[1].string(0)[static_cast<size_t>(c)], low);
  }
  EXPECT_EQ(out.columns[0].string(2), "GRüßE, WELT");
  EXPECT_EQ(out.columns[0].string(3), "AZ AZ @[`{");
}

TEST(Strings, WorkOnSlicesOfBlocks) {
  auto in = rows_of({texts({"zero", "one", "two", "three"})}).slice(1, 2);
  auto f = trace(tensor_spec{dtype::string, {}}, [](expr s) {
    return std::tuple{strings::upper(s), strings::length(s), s + "!", strings::strip(s)};
  });
  auto out = run(f, in);
  EXPECT_EQ(texts_of(out.columns[0]), (list{"ONE", "TWO"}));
  EXPECT_EQ(values_of<int32_t>(out.columns[1]), (std::vector<int32_t>{3, 3}));
  EXPECT_EQ(texts_of(out.columns[2]), (list{"one!", "two!"}));
  EXPECT_EQ(texts_of(out.columns[3]), (list{"one", "two"}));
}

TEST(Strings, SplitAtWhiteSpaceGivesNoEmptyWords) {
  auto out =
    apply({texts({"a bc  d", "", "   ", "\tx\n"})}, [](expr s) { return strings::split(s); });
  const auto& c = out.columns[0];
  EXPECT_EQ(to_string(c.shape_of(0)), "[3]");
  EXPECT_EQ(to_string(c.shape_of(1)), "[0]");
  EXPECT_EQ(to_string(c.shape_of(2)), "[0]");
  EXPECT_EQ(texts_of(c), (list{"a", "bc", "d", "x"}));
}

TEST(Strings, SplitAtASeparatorKeepsEmptyParts) {
  auto out = apply({texts({"1,,2,", "", "x"})}, [](expr s) { return strings::split(s, ","); });
  EXPECT_EQ(texts_of(out.columns[0]), (list{"1", "", "2", "", "", "x"}));
  EXPECT_EQ(to_string(out.columns[0].shape_of(0)), "[4]");
  out = apply({texts({"1<>2<><>3"})}, [](expr s) { return strings::split(s, "<>"); });
  EXPECT_EQ(texts_of(out.columns[0]), (list{"1", "2", "", "3"}));
}

TEST(Strings, JoinElementsAndAxes) {
  auto out = apply({texts({"a", "b"}), tensors<int64_t>({1, 2, 3, 4}, {2})}, [](expr s, expr n) {
    return std::tuple{strings::join({s, strings::as_string(n), "!"}, ":"),
                      strings::reduce_join(strings::as_string(n), "+")};
  });
  EXPECT_EQ(texts_of(out.columns[0]), (list{"a:1:!", "a:2:!", "b:3:!", "b:4:!"}));
  EXPECT_EQ(texts_of(out.columns[1]), (list{"1+2", "3+4"}));
}

TEST(Strings, CompareBytewise) {
  auto out = apply({texts({"a", "b", "ab"}), texts({"a", "a", "b"})}, [](expr a, expr b) {
    return std::tuple{a == b, a < b, a >= b, where(a < b, a, b)};
  });
  EXPECT_EQ(values_of<bool>(out.columns[0]), (std::vector<bool>{true, false, false}));
  EXPECT_EQ(values_of<bool>(out.columns[1]), (std::vector<bool>{false, false, true}));
  EXPECT_EQ(values_of<bool>(out.columns[2]), (std::vector<bool>{true, true, false}));
  EXPECT_EQ(texts_of(out.columns[3]), (list{"a", "a", "ab"}));
}

TEST(Strings, ReadNumbersThatAreTooSmallAsTheNearestOnesAndTooLargeAsInfinite) {
  const list tiny{"1e-46", "-1e-46", "1e-45", "1e-40", "1e-99999", " +1e-46 ", "0.0000001e-300"};
  auto out = apply({texts(tiny)}, [](expr s) {
    return std::tuple{strings::to_number<float>(s), strings::to_number<double>(s),
                      strings::to_number<float16>(s)};
  });
  EXPECT_TRUE(out.errors.empty());
  const auto floats = values_of<float>(out.columns[0]);
  EXPECT_EQ(floats, (std::vector<float>{0, 0, 1e-45f, 1e-40f, 0, 0, 0}));
  EXPECT_TRUE(std::signbit(floats[1]));
  EXPECT_EQ(values_of<double>(out.columns[1]),
            (std::vector<double>{1e-46, -1e-46, 1e-45, 1e-40, 0, 1e-46, 1e-307}));
  EXPECT_EQ(static_cast<float>(values_of<float16>(out.columns[2])[3]), 0);
  const list large{"1e39", "-1e39", "1e99999"};
  // TensorFlow 2.21 gives the same infinite values.
  const auto infinite = apply({texts(large)}, [](expr s) { return strings::to_number<float>(s); });
  EXPECT_TRUE(infinite.errors.empty());
  EXPECT_EQ(values_of<float>(infinite.columns[0]),
            (std::vector<float>{INFINITY, -INFINITY, INFINITY}));
}

TEST(Strings, ReadNumbersWhole) {
  auto out = apply({texts({" 42 ", "-7", "+3", "4 2", "", "0x10", "12a", "99999999999"})},
                   [](expr s) { return strings::to_number<int32_t>(s); });
  list errors;
  for (const auto& e : out.errors) errors.push_back(std::to_string(e.row) + ": " + e.why.message());
  EXPECT_EQ(
    errors,
    (list{"3: strings.to_number: '4 2' is no int32", "4: strings.to_number: '' is no int32",
          "5: strings.to_number: '0x10' is no int32", "6: strings.to_number: '12a' is no int32",
          "7: strings.to_number: '99999999999' is out of the range of int32"}));
  EXPECT_EQ(out.columns[0].values<int32_t>()[0], 42);
  EXPECT_EQ(out.columns[0].values<int32_t>()[1], -7);
  EXPECT_EQ(out.columns[0].values<int32_t>()[2], 3);
  out = apply({texts({"1.5", "-2e3", "inf", "1e-3\n"})}, [](expr s) {
    return std::tuple{strings::to_number(s), strings::to_number<double>(s),
                      strings::to_number<bfloat16>(s)};
  });
  EXPECT_TRUE(out.errors.empty());
  EXPECT_EQ(values_of<float>(out.columns[0]), (std::vector<float>{1.5f, -2000, INFINITY, 1e-3f}));
  EXPECT_EQ(values_of<double>(out.columns[1]), (std::vector<double>{1.5, -2000, INFINITY, 1e-3}));
  EXPECT_EQ(static_cast<float>(out.columns[2].values<bfloat16>()[0]), 1.5f);
  EXPECT_EQ(
    apply({texts({"-1"})}, [](expr s) { return strings::to_number<uint8_t>(s); }).errors.size(),
    1u);
}

TEST(Strings, PrintValues) {
  auto out = apply({scalars<float>({1.5f, -0.25f})}, [](expr x) {
    return std::tuple{strings::as_string(x), strings::as_string(x > 0),
                      strings::as_string(cast<int8_t>(x * 10))};
  });
  EXPECT_EQ(texts_of(out.columns[0]), (list{"1.500000", "-0.250000"}));
  EXPECT_EQ(texts_of(out.columns[1]), (list{"true", "false"}));
  EXPECT_EQ(texts_of(out.columns[2]), (list{"15", "-2"}));
}

TEST(Strings, DecodeRawBytes) {
  const std::string four{"\x01\x00\x02\x01", 4};
  auto out = apply({texts({four, four})}, [](expr s) {
    return std::tuple{io::decode_raw<uint16_t>(s), io::decode_raw<uint16_t>(s, false),
                      io::decode_raw<uint8_t>(s), io::decode_raw<int32_t>(s)};
  });
  EXPECT_EQ(values_of<uint16_t>(out.columns[0]), (std::vector<uint16_t>{1, 258, 1, 258}));
  EXPECT_EQ(values_of<uint16_t>(out.columns[1]), (std::vector<uint16_t>{256, 513, 256, 513}));
  EXPECT_EQ(to_string(out.columns[2].row_shape()), "[4]");
  EXPECT_EQ(values_of<int32_t>(out.columns[3]), (std::vector<int32_t>{0x01020001, 0x01020001}));
}

TEST(Strings, DecodeRawChecksLengthsRowByRow) {
  auto out =
    apply({texts({"abcd", "abc", "", "ab"})}, [](expr s) { return io::decode_raw<uint16_t>(s); });
  ASSERT_EQ(out.errors.size(), 1u);
  EXPECT_EQ(out.errors[0].row, 1u);
  EXPECT_EQ(out.errors[0].why.message(),
            "decode_raw: a string of 3 bytes does not hold uint16 values, which take 2 each");
  EXPECT_EQ(to_string(out.columns[0].shape_of(0)), "[2]");
  EXPECT_EQ(to_string(out.columns[0].shape_of(2)), "[0]");
  EXPECT_EQ(out.columns[0].values<uint16_t>()[0], 0x6261);
}

TEST(Strings, DecodeRawFromAnUnalignedSlice) {
  const std::string eight{"\x01\0\0\0\0\0\0\0", 8};
  auto in = rows_of({texts({"x", eight, eight})}).slice(1, 2);
  auto out = run(
    trace(tensor_spec{dtype::string, {}}, [](expr s) { return io::decode_raw<int64_t>(s); }), in);
  EXPECT_EQ(values_of<int64_t>(out.columns[0]), (std::vector<int64_t>{1, 1}));
}

} // namespace
} // namespace headrace::detail
