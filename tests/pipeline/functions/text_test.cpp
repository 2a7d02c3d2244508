#include "tests/pipeline/functions/everywhere.hpp"

#include <random>
#include <re2/re2.h>

namespace headrace::detail {
namespace {

using namespace test;
using list = std::vector<std::string>;

TEST(Regex, MatchesTheWholeString) {
  auto out = apply_everywhere({texts({"abc", "abcd", "", "b\nc"})}, [](expr s) {
    return std::tuple{strings::regex_full_match(s, "a.*c"), strings::regex_full_match(s, ".?"),
                      strings::regex_full_match(stack({s, s}), "(?s)b.c")};
  });
  EXPECT_EQ(values_of<bool>(out.columns[0]), (std::vector<bool>{true, false, false, false}));
  EXPECT_EQ(values_of<bool>(out.columns[1]), (std::vector<bool>{false, false, true, false}));
  EXPECT_EQ(values_of<bool>(out.columns[2]),
            (std::vector<bool>{false, false, false, false, false, false, true, true}));
  EXPECT_EQ(thrown_by([] { strings::regex_full_match("", "a("); }),
            "strings.regex_full_match: pattern 'a(': missing ): a(");
  EXPECT_EQ(thrown_by([] { strings::regex_full_match(1, "a"); }),
            "strings.regex_full_match: an operand is int32[]; it must be strings");
}

TEST(Regex, ReplacesAllOrTheFirst) {
  auto out = apply_everywhere({texts({"a1b22", "", "x"})}, [](expr s) {
    return std::tuple{strings::regex_replace(s, "[0-9]+", "#"),
                      strings::regex_replace(s, "([a-z])([0-9])", "\\2\\1", false)};
  });
  EXPECT_EQ(texts_of(out.columns[0]), (list{"a#b#", "", "x"}));
  EXPECT_EQ(texts_of(out.columns[1]), (list{"1ab22", "", "x"}));
  EXPECT_EQ(
    thrown_by([] { strings::regex_replace("", "(a)", "\\2"); }),
    "strings.regex_replace: rewrite '\\2': Rewrite schema requests 2 matches, but the regexp "
    "only has 1 parenthesized subexpressions.");
}

TEST(Substr, CountsBytesOrCharacters) {
  auto out = apply_everywhere(
    {texts({"hello", "grüße", "héé"}), scalars<int32_t>({1, 2, -2}), scalars<int64_t>({3, 2, 9})},
    [](expr s, expr position, expr length) {
      return std::tuple{strings::substr(s, position, length),
                        strings::substr(s, position, length, strings::unit::utf8_chars),
                        strings::length(s, strings::unit::utf8_chars)};
    });
  EXPECT_EQ(texts_of(out.columns[0]), (list{"ell", "ü", "é"}));
  EXPECT_EQ(texts_of(out.columns[1]), (list{"ell", "üß", "éé"}));
  EXPECT_EQ(values_of<int32_t>(out.columns[2]), (std::vector<int32_t>{5, 5, 3}));
}

TEST(Substr, FailsRowsWhosePositionIsOutside) {
  auto out = apply_everywhere({texts({"abc", "abc", "abc", ""}), scalars<int64_t>({3, 4, -4, 0})},
                              [](expr s, expr p) { return strings::substr(s, p, 2); });
  EXPECT_EQ(errors_of(out), (list{"1: strings.substr: position 4 in a string of 3 bytes",
                                  "2: strings.substr: position -4 in a string of 3 bytes"}));
  EXPECT_EQ(out.columns[0].string(0), "");
  out = apply_everywhere({texts({"abc"})}, [](expr s) {
    return strings::substr(s, constant(std::vector<int>{0, 1}), -1);
  });
  EXPECT_EQ(errors_of(out), (list{"0: strings.substr: a length of -1; it must not be negative"}));
}

TEST(Substr, AgreesWithCharactersTakenOneByOne) {
  const uint64_t seed = 3;
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random{seed};
  const list alphabet{"a", "é", "漢", "😀", "z"};
  list whole, wanted;
  std::vector<int64_t> positions, lengths;
  for (int i = 0; i < 200; ++i) {
    list chars;
    for (auto n = random() % 8; n > 0; --n) chars.push_back(alphabet[random() % alphabet.size()]);
    const auto n = static_cast<int64_t>(chars.size());
    const auto position = static_cast<int64_t>(random() % (2 * chars.size() + 1)) - n;
    const auto length = static_cast<int64_t>(random() % 6);
    std::string all, part;
    for (int64_t c = 0; c < n; ++c) {
      const auto first = position < 0 ? position + n : position;
      all += chars[static_cast<size_t>(c)];
      if (c >= first && c < first + length)
        part += chars[static_cast<size_t>(c)];
    }
    whole.push_back(all);
    wanted.push_back(part);
    positions.push_back(position);
    lengths.push_back(length);
  }
  auto out = apply_everywhere(
    {texts(whole), scalars(positions), scalars(lengths)}, [](expr s, expr position, expr length) {
      return strings::substr(s, position, length, strings::unit::utf8_chars);
    });
  EXPECT_TRUE(out.errors.empty());
  EXPECT_EQ(texts_of(out.columns[0]), wanted);
}

TEST(UnicodeCase, MapsWholeScripts) {
  auto out = apply_everywhere({texts({"Grüße ΑΒΓ Жук", "", "ŉ ﬃ",
                                      "a\xff"
                                      "B"})},
                              [](expr s) {
                                return std::tuple{strings::upper(s, strings::unit::utf8_chars),
                                                  strings::lower(s, strings::unit::utf8_chars)};
                              });
  EXPECT_EQ(texts_of(out.columns[0]), (list{"GRÜSSE ΑΒΓ ЖУК", "", "ʼN FFI",
                                            "A\xff"
                                            "B"}));
  EXPECT_EQ(texts_of(out.columns[1]), (list{"grüße αβγ жук", "", "ŉ ﬃ",
                                            "a\xff"
                                            "b"}));
}

TEST(HashBuckets, AreThoseOfFarmHash) {
  auto out = apply_everywhere({texts({"Hello", "TensorFlow", "2.x", "", "grüße"})},
                              [](expr s) { return strings::to_hash_bucket_fast(s, 1000003); });
  // The expected values were computed with TensorFlow 2.21.
  EXPECT_EQ(values_of<int64_t>(out.columns[0]),
            (std::vector<int64_t>{184354, 387482, 628455, 377723, 412299}));
  EXPECT_EQ(thrown_by([] { strings::to_hash_bucket_fast("", 0); }),
            "strings.to_hash_bucket_fast: the number of buckets must be 1 or more");
}

TEST(SplitPadded, FillsShortOnesAndCutsLongOnes) {
  auto out = apply_everywhere({texts({"a,b", "", "a,b,c,d"})}, [](expr s) {
    return std::tuple{strings::split_padded(s, 3, ",", "-"),
                      strings::split_padded(stack({s, s}), 1, ",")};
  });
  EXPECT_EQ(texts_of(out.columns[0]), (list{"a", "b", "-", "", "-", "-", "a", "b", "c"}));
  EXPECT_EQ(to_string(out.columns[1].row_shape()), "[2, 1]");
  EXPECT_EQ(thrown_by([] { strings::split_padded("", -1); }),
            "strings.split_padded: the number of parts must be in [0, 2^30]");
}

TEST(SplitEach, GivesRowsOfDifferentLengths) {
  auto out = apply_everywhere({texts({"a,b", "", "a,,c"})}, [](expr s) {
    const auto commas = strings::split_each(stack({s, "x,y"}), ",");
    const auto words = strings::split_each(stack({s, " p  q "}));
    return std::tuple{commas.values(), commas.row_lengths(), commas.to_tensor("-"), words.values(),
                      words.row_lengths()};
  });
  EXPECT_EQ(texts_of(out.columns[0]),
            (list{"a", "b", "x", "y", "", "x", "y", "a", "", "c", "x", "y"}));
  EXPECT_EQ(values_of<int64_t>(out.columns[1]), (std::vector<int64_t>{2, 2, 1, 2, 3, 2}));
  EXPECT_EQ(print_row(out.columns[2], 2), "string[2, 3]: 'a' '' 'c' 'x' 'y' '-'");
  EXPECT_EQ(texts_of(out.columns[3]), (list{"a,b", "p", "q", "p", "q", "a,,c", "p", "q"}));
  EXPECT_EQ(values_of<int64_t>(out.columns[4]), (std::vector<int64_t>{1, 2, 0, 2, 1, 2}));
  EXPECT_EQ(thrown_by([] { strings::split_each("a"); }),
            "strings.split: the operand is string[]; a vector of strings is needed");
}

TEST(Ngrams, GoOverEachWidthInTurn) {
  auto out = apply_everywhere({texts({"a b c", "x", ""})}, [](expr s) {
    const auto words = strings::split(s);
    return std::tuple{
      strings::ngrams(words, {1, 2}),
      strings::ngrams(words, 2, {.separator = "-", .pad_values = {{"<", ">"}}}),
      strings::ngrams(words, 3, {.pad_values = {{"<", ">"}}, .padding_width = 1}),
      strings::ngrams(words, 4, {.separator = "+", .preserve_short_sequences = true})};
  });
  const auto row = [&](size_t i, size_t r) {
    list all;
    const auto& c = out.columns[i];
    for (auto v = c.first_value(r); v < c.first_value(r + 1); ++v)
      all.emplace_back(c.string(static_cast<size_t>(v)));
    return all;
  };
  EXPECT_EQ(row(0, 0), (list{"a", "b", "c", "a b", "b c"}));
  EXPECT_EQ(row(0, 1), (list{"x"}));
  EXPECT_EQ(row(0, 2), list{});
  EXPECT_EQ(row(1, 0), (list{"<-a", "a-b", "b-c", "c->"}));
  EXPECT_EQ(row(1, 1), (list{"<-x", "x->"}));
  EXPECT_EQ(row(1, 2), list{});
  EXPECT_EQ(row(2, 0), (list{"< a b", "a b c", "b c >"}));
  EXPECT_EQ(row(2, 1), (list{"< x >"}));
  EXPECT_EQ(row(2, 2), list{});
  EXPECT_EQ(row(3, 0), (list{"a+b+c"}));
  EXPECT_EQ(row(3, 1), (list{"x"}));
  EXPECT_EQ(row(3, 2), list{});
  EXPECT_EQ(thrown_by([] { strings::ngrams(expr{"a"}, 1); }),
            "strings.ngrams: a scalar has no axis to go along");
  EXPECT_EQ(thrown_by([] { strings::ngrams(constant(list{"a"}), 0); }),
            "strings.ngrams: a width of 0; it must be in [1, 2^20]");
}

} // namespace
} // namespace headrace::detail
