#include "headrace/pipeline/codec/canonical_message.hpp"
#include "headrace/pipeline/graph/graph_options.hpp"
#include "headrace/pipeline/graph_codec/graph_codec.hpp"
#include "headrace/pipeline/makers/dataset_makers.hpp"
#include "headrace/schemas/dataset.capnp.h"
#include "tests/pipeline/sources/source_rows.hpp"
#include "tests/pipeline/support/rows.hpp"

#include <capnp/any.h>
#include <capnp/schema.h>
#include <gtest/gtest.h>

namespace headrace::detail {
namespace {

using test::range;

/// The error of decoding a graph after `change` has set values of a newer build in the message of
/// the last operator.
template <class Change>
std::string refusal(const dataset_ptr& graph, Change change) {
  const auto bytes = encode_graph(graph).value();
  ::capnp::MallocMessageBuilder message;
  (void)detail::read_message<schema::DatasetGraph>(
    bytes, [&](schema::DatasetGraph::Reader in) -> result<bool> {
      message.setRoot(in);
      return true;
    });
  auto all = message.getRoot<schema::DatasetGraph>().getDatasets();
  change(all[all.size() - 1]);
  return to_string(decode_graph(detail::canonical_bytes<schema::DatasetGraph>(message)).status());
}

constexpr auto newer = "is not known to this build; its sender is newer";

TEST(UnknownValues, OfAServiceAreRefusedByName) {
  const auto graph = make_distribute(range(0, 3), {.address = "here:1"}).value();
  EXPECT_EQ(
    refusal(graph,
            [](schema::Dataset::Builder x) {
              x.getDistribute().getService().setProcessingMode(
                static_cast<schema::ShardingPolicy>(7));
            }),
    std::string{"unimplemented: dataset graph: dataset 1: distribute: sharding policy number 7 "}
      + newer);
  EXPECT_EQ(
    refusal(graph,
            [](schema::Dataset::Builder x) {
              x.getDistribute().getService().setCompression(static_cast<schema::Compression>(9));
            }),
    std::string{"unimplemented: dataset graph: dataset 1: distribute: compression number 9 "}
      + newer);
}

TEST(UnknownValues, OfOptionsAreRefusedByName) {
  const auto graph = make_options(range(0, 3), {.compression = compression::snappy}).value();
  EXPECT_EQ(
    refusal(graph,
            [](schema::Dataset::Builder x) {
              x.getOptions().getOptions().getCompression().setValue(
                static_cast<schema::Compression>(65535));
            }),
    std::string{"unimplemented: dataset graph: dataset 1: options: compression number 65535 "}
      + newer);
  const auto arm = ::capnp::Schema::from<schema::Options::Compression>()
                     .getProto()
                     .getStruct()
                     .getDiscriminantOffset();
  EXPECT_EQ(refusal(graph,
                    [arm](schema::Dataset::Builder x) {
                      ::capnp::AnyStruct::Builder raw{x.getOptions().getOptions()};
                      raw.getDataSection()[arm * sizeof(uint16_t)] = 5;
                    }),
            std::string{
              "unimplemented: dataset graph: dataset 1: options: choice of a compression number 5 "}
              + newer);
}

TEST(UnknownValues, OfFilesAreRefusedByName) {
  EXPECT_EQ(
    refusal(make_tfrecord(test::files({"x"}), file_compression::gzip).value(),
            [](schema::Dataset::Builder x) {
              x.getTfrecord().setCompression(static_cast<schema::Files::Compression>(3));
            }),
    std::string{"unimplemented: dataset graph: dataset 0: tfrecord: compression of files number 3 "}
      + newer);
  EXPECT_EQ(
    refusal(make_snapshot(range(0, 3), "/tmp/x").value(),
            [](schema::Dataset::Builder x) {
              x.getSnapshot().setCompression(static_cast<schema::SavedDataset::Compression>(3));
            }),
    std::string{
      "unimplemented: dataset graph: dataset 1: snapshot: compression of saved elements number 3 "}
      + newer);
}

TEST(UnknownValues, OnlyUnsetOptionsAreLeftToThoseFurtherDown) {
  const auto below = make_options(range(0, 3), {.compression = compression::snappy}).value();
  const auto read = [&](graph_options above) {
    const auto graph = make_options(below, std::move(above)).value();
    return options_of(*decode_graph(encode_graph(graph).value()).value()).compression;
  };
  EXPECT_EQ(read({}), compression::snappy);
  EXPECT_EQ(read({.compression = compression::automatic}), compression::automatic);
  EXPECT_EQ(read({.compression = compression::none}), compression::none);
}

} // namespace
} // namespace headrace::detail
