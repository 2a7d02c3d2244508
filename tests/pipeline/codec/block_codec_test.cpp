#include "headrace/pipeline/codec/block_codec.hpp"

#include "tests/pipeline/support/rows.hpp"

#include <algorithm>
#include <capnp/message.h>
#include <capnp/serialize.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <random>

namespace headrace::detail {
namespace {

using test::range;
using test::row_text;

/// An encoded block, as it is sent over a link.
struct on_link {
  kj::Array<::capnp::word> header;
  std::vector<buffer> segments;
};

on_link send(const block& rows, block_encoding encoding) {
  on_link out;
  ::capnp::MallocMessageBuilder message;
  encode_block(rows, encoding, message.initRoot<schema::Block>(), out.segments);
  out.header = ::capnp::messageToFlatArray(message);
  return out;
}

result<block> receive(const on_link& from, const std::vector<tensor_spec>& expected) {
  ::capnp::ReaderOptions options;
  options.traversalLimitInWords = 1 << 20;
  try {
    ::capnp::FlatArrayMessageReader message{from.header, options};
    return decode_block(message.getRoot<schema::Block>(), from.segments, expected, 1 << 26);
  } catch (const kj::Exception& e) {
    return data_loss(e.getDescription().cStr());
  }
}

std::vector<std::string> words(const block& rows) {
  std::vector<std::string> out;
  for (size_t i = 0; i < rows.rows; ++i) out.push_back(row_text(rows, i));
  return out;
}

/// A block, and the specs of its components.
struct sample {
  std::vector<tensor_spec> specs;
  block rows;
};

block first(const dataset_ptr& graph, split_provider* splits = nullptr) {
  iterator_context context;
  context.splits = splits;
  return *make_iterator(graph, context).value()->next({.rows = 1 << 16, .bytes = 1 << 20});
}

/// Blocks of every kind of column, with and without errors and origins.
std::vector<sample> sample_blocks() {
  std::vector<sample> out;
  const auto add = [&](const dataset_ptr& graph, split_provider* splits = nullptr) {
    out.push_back({graph->spec.components, first(graph, splits)});
  };
  add(range(0, 1));
  add(range(0, 1000));
  add(make_batch(range(0, 5), 2).value());
  std::vector<std::string> names;
  for (int i = 0; i < 500; ++i) names.push_back(fmt::format("name {}", i % 10));
  auto strings = make_from_tensor_slices({string_constant(names)}).value();
  add(strings);
  add(make_skip(strings, 100).value()); // a column that begins in the middle of its buffers
  auto ragged = make_batch(strings, 3).value();
  auto f = test::traced(ragged, [](expr x) { return x; });
  add(make_shuffle(make_map(ragged, f).value(), 5, 1).value());
  auto numbers = range(-50, 50);
  auto failing = test::traced(numbers, [](expr x) { return std::pair{10 / (x % 4), x == 3}; });
  add(make_map(numbers, failing).value());
  test::scripted_splits splits;
  splits.script = {{0, 0, split_range{3, 90}}};
  add(make_shuffle(range(0, 100), 20, 3).value(), &splits);
  return out;
}

TEST(BlockCodec, GivesTheSameRowsOriginsAndErrors) {
  for (const auto& x : sample_blocks())
    for (auto encoding : {block_encoding::plain, block_encoding::snappy}) {
      auto back = receive(send(x.rows, encoding), x.specs);
      ASSERT_TRUE(back.ok()) << to_string(back.status());
      EXPECT_EQ(words(*back), words(x.rows));
      EXPECT_EQ(back->origins, x.rows.origins);
    }
}

TEST(BlockCodec, AFailedRowNeedNotFitTheSpec) {
  // Three error rows of a named function that gives matrices.
  auto in = range(0, 3);
  auto f = std::make_shared<function>();
  f->argument = in->spec;
  f->named = {"f"};
  f->declared = tensor_spec{dtype::float32, {1000, 1000}};
  iterator_context context;
  context.find_function = [](const function_reference&) -> named_function {
    return [](const block&) -> result<block> { throw std::runtime_error{"thrown"}; };
  };
  auto rows = make_iterator(make_map(in, f).value(), context).value()->next({.rows = 3});
  auto back = receive(send(*rows, block_encoding::plain), f->declared.components);
  ASSERT_TRUE(back.ok()) << to_string(back.status());
  EXPECT_EQ(words(*back), std::vector<std::string>(3, "!unknown: map: thrown"));
}

TEST(BlockCodec, KeepsWhatEndsARun) {
  const std::vector<tensor_spec> specs{tensor_spec{dtype::int64, {}}};
  const auto why = deadline_exceeded("no element came").with_context("f");
  for (const bool ends : {false, true}) {
    const auto failed =
      block::failed_row(specs, ends ? why.that_ends_run().with_context("job j") : why);
    const auto back = receive(send(failed, block_encoding::plain), specs);
    ASSERT_TRUE(back.ok()) << to_string(back.status());
    ASSERT_EQ(back->errors.size(), 1u);
    EXPECT_EQ(back->errors[0].why.ends_run(), ends);
  }
}

TEST(BlockCodec, SharesLargeColumns) {
  auto rows = first(range(0, 1000));
  auto sent = send(rows, block_encoding::plain);
  ASSERT_EQ(sent.segments.size(), 1u);
  EXPECT_EQ(sent.segments[0].data(), rows.columns[0].value_buffer().data());
  auto back = receive(sent, {{dtype::int64, {}}});
  EXPECT_EQ(back->columns[0].value_buffer().data(), sent.segments[0].data());
}

TEST(BlockCodec, CompressesWhatBecomesSmaller) {
  auto rows = sample_blocks()[3].rows;
  size_t plain = 0, packed = 0;
  for (const auto& s : send(rows, block_encoding::plain).segments) plain += s.size();
  for (const auto& s : send(rows, block_encoding::snappy).segments) packed += s.size();
  EXPECT_LT(packed * 2, plain);
}

TEST(BlockCodec, RefusesWhatDoesNotFitTheSpec) {
  auto sent = send(first(range(0, 3)), block_encoding::plain);
  EXPECT_EQ(to_string(receive(sent, {{dtype::float32, {}}}).status()),
            "invalid_argument: block, column 0: dtype 5, expected float32[]");
  EXPECT_EQ(to_string(receive(sent, {{dtype::int64, {2}}}).status()),
            "invalid_argument: block, column 0: rows of shape [], expected int64[2]");
  EXPECT_EQ(to_string(receive(sent, {}).status()),
            "invalid_argument: a block of 1 columns, expected 0");
}

TEST(BlockCodec, SurvivesEveryFlippedBit) {
  // A block that is accepted can be read to the last byte, which the sanitizers check.
  size_t accepted = 0, refused = 0;
  for (const auto& x : sample_blocks()) {
    auto sent = send(x.rows, block_encoding::plain);
    auto bytes = sent.header.asBytes();
    std::mt19937_64 random{42};
    const auto flips = std::min<size_t>(bytes.size() * 8, 4000);
    for (size_t i = 0; i < flips; ++i) {
      const auto bit = flips == bytes.size() * 8 ? i : random() % (bytes.size() * 8);
      bytes[bit / 8] ^= static_cast<kj::byte>(1 << bit % 8);
      if (auto back = receive(sent, x.specs); !back)
        ++refused;
      else if (++accepted; back->rows < 100000)
        words(*back);
      bytes[bit / 8] ^= static_cast<kj::byte>(1 << bit % 8);
    }
  }
  EXPECT_GT(accepted, 0u);
  EXPECT_GT(refused, 1000u);
}

TEST(BlockCodec, SurvivesDamagedSegments) {
  std::mt19937_64 random{43};
  for (const auto& x : sample_blocks())
    for (auto encoding : {block_encoding::plain, block_encoding::snappy}) {
      const auto sent = send(x.rows, encoding);
      for (size_t i = 0; i < 300 && !sent.segments.empty(); ++i) {
        on_link damaged;
        damaged.header = kj::heapArray<::capnp::word>(sent.header.size());
        std::ranges::copy(sent.header.asBytes(), damaged.header.asBytes().begin());
        damaged.segments = sent.segments;
        auto& segment = damaged.segments[random() % damaged.segments.size()];
        std::string bytes{reinterpret_cast<const char*>(segment.data()), segment.size()};
        if (random() % 2 == 0)
          bytes.resize(random() % (bytes.size() + 1));
        for (size_t n = random() % 4; n != 0 && !bytes.empty(); --n)
          bytes[random() % bytes.size()] = static_cast<char>(random());
        segment = buffer::copy_of(bytes.data(), bytes.size());
        if (auto back = receive(damaged, x.specs))
          words(*back);
      }
    }
}

} // namespace
} // namespace headrace::detail
