#include "headrace/client/internal/supervision_tree.hpp"

#include "headrace/runtime/supervision/codec.hpp"
#include "headrace/schemas/text.hpp"

#include <fmt/format.h>

namespace headrace::detail {
namespace {

supervised node_of(const supervisor_snapshot::child& x) {
  supervised out{x.id, std::string{to_string(x.state)}, x.restarts, x.last_reason, {}};
  for (const auto& below : x.below)
    for (const auto& child : below.children) out.children.push_back(node_of(child));
  return out;
}

supervised node_of(capnp::Data::Reader tree, std::string unnamed, std::string state) {
  supervised out{std::move(unnamed), std::move(state), 0, {}, {}};
  if (tree.size() == 0)
    return out;
  auto read = decode(message<schema::SupervisionTree>::parse(bytes_of(tree)));
  if (!read)
    return out;
  out.name = read->process;
  out.restarts = read->past.restarts;
  out.last_reason = read->past.last_reason;
  for (const auto& root : read->roots)
    for (const auto& child : root.children) out.children.push_back(node_of(child));
  return out;
}

} // namespace

std::vector<supervised> read_supervision(schema::ServiceStatus::Reader in) {
  std::vector<supervised> out{node_of(in.getTree(), "dispatcher", "running")};
  for (auto worker : in.getWorkers())
    out.push_back(node_of(worker.getTree(), fmt::format("worker {:x}", worker.getWorkerId()),
                          worker.getAlive()  ? "running"
                          : worker.getLeft() ? "left"
                                             : "lost"));
  return out;
}

} // namespace headrace::detail
