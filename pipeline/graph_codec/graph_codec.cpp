#include "headrace/pipeline/graph_codec/graph_codec.hpp"

#include "headrace/pipeline/codec/canonical_message.hpp"
#include "headrace/pipeline/codec/spec_codec.hpp"
#include "headrace/pipeline/graph_codec/graph_decoder.hpp"
#include "headrace/pipeline/graph_codec/graph_encoder.hpp"
#include "headrace/pipeline/makers/dataset_makers.hpp"

#include <openssl/evp.h>

namespace headrace::detail {

result<buffer> encode_graph(const dataset_ptr& graph) {
  if (!graph)
    return invalid_argument("there is no graph");
  HEADRACE_TRY(check_gives_tensors(*graph));
  ::capnp::MallocMessageBuilder message;
  HEADRACE_TRY(graph_encoder{}.encode(graph, message.initRoot<schema::DatasetGraph>()));
  return canonical_bytes<schema::DatasetGraph>(message);
}

std::string fingerprint(const buffer& encoded) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned size = 0;
  EVP_Digest(encoded.data(), encoded.size(), digest, &size, EVP_sha256(), nullptr);
  std::string out;
  for (unsigned i = 0; i < size; ++i) out += fmt::format("{:02x}", digest[i]);
  return out;
}

result<std::string> fingerprint(const dataset_ptr& graph) {
  HEADRACE_ASSIGN(auto encoded, encode_graph(graph));
  return fingerprint(encoded);
}

result<dataset_ptr> decode_graph(const buffer& encoded, size_t most_bytes) {
  if (encoded.size() > most_bytes)
    return resource_exhausted(
      fmt::format("a graph of {} bytes, at most {} are allowed", encoded.size(), most_bytes));
  auto out = read_message<schema::DatasetGraph>(
    encoded, [](schema::DatasetGraph::Reader in) { return graph_decoder{}.decode(in); });
  if (!out)
    return out.status().with_context("dataset graph");
  return out;
}

buffer encode_spec(const element_spec& spec) {
  ::capnp::MallocMessageBuilder message;
  encode(spec, message.initRoot<schema::ElementSpec>());
  return canonical_bytes<schema::ElementSpec>(message);
}

result<element_spec> decode_spec(const buffer& encoded) {
  auto out = read_message<schema::ElementSpec>(
    encoded, [](schema::ElementSpec::Reader in) { return decode(in); });
  if (!out)
    return out.status().with_context("element spec");
  return out;
}

} // namespace headrace::detail
