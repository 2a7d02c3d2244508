#include "headrace/client/explain.hpp"

#include "headrace/client/internal/service_client.hpp"
#include "headrace/client/internal/service_source.hpp"
#include "headrace/pipeline/files/random_file.hpp"
#include "headrace/pipeline/files/whole_file.hpp"
#include "headrace/pipeline/graph_codec/graph_codec.hpp"
#include "headrace/runtime/base/ids.hpp"

#include <fmt/format.h>

namespace headrace {
using namespace detail;

explanation explain(const dataset& what, const explain_options& how,
                    const iterate_options& options) {
  iterator_context context;
  context.seed = options.seed.value_or(random_id());
  context.find_function = options.find_function;
  context.stop = options.stop;
  context.distribute =
    [token = context.stop](const dataset_node& node) -> result<std::unique_ptr<element_source>> {
    HEADRACE_ASSIGN(auto opened, service_source::open(node, token));
    return std::unique_ptr<element_source>{std::move(opened)};
  };
  return explain(what.node(), std::move(context), how).value();
}

status write_dataset(const dataset& what, const std::string& file) {
  HEADRACE_ASSIGN(const auto bytes, encode_graph(what.node()));
  detail::whole_file out{file};
  HEADRACE_TRY(out.open());
  HEADRACE_TRY(out.write({bytes.data(), bytes.size()}));
  return out.finish();
}

result<dataset> read_dataset(const std::string& file) {
  HEADRACE_ASSIGN(const auto from, detail::random_file::open(file));
  if (from->bytes() > most_graph_bytes)
    return invalid_argument(
      fmt::format("'{}' has {} bytes; no dataset's graph is so large", file, from->bytes()));
  mutable_buffer bytes{from->bytes()};
  HEADRACE_TRY(from->read(0, {bytes.data(), bytes.size()}));
  auto graph = decode_graph(std::move(bytes).freeze());
  if (!graph)
    return graph.status().with_context(fmt::format("'{}' holds no dataset", file));
  return dataset{*std::move(graph)};
}

result<dataset> registered_dataset(const std::string& dispatcher, const std::string& id,
                                   const session& with) {
  HEADRACE_ASSIGN(auto graph, service::graph_of({dispatcher, with.state()}, id));
  return dataset{std::move(graph)};
}

} // namespace headrace
