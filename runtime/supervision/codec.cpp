#include "headrace/runtime/supervision/codec.hpp"

#include "headrace/schemas/text.hpp"

#include <algorithm>

namespace headrace::detail {

namespace {

template <class To, class From>
To convert(From x, To last) {
  return static_cast<To>(std::min(static_cast<uint16_t>(x), static_cast<uint16_t>(last)));
}

void write(const supervisor_snapshot& from, schema::Supervisor::Builder to) {
  to.setPath(text_of(from.path));
  to.setStrategy(convert(from.strategy, schema::Supervisor::Strategy::REST_FOR_ONE));
  to.setRestarts(from.restarts);
  to.setAbandoned(from.abandoned);
  auto children = to.initChildren(static_cast<unsigned>(from.children.size()));
  for (unsigned i = 0; i < children.size(); ++i) {
    auto& x = from.children[i];
    auto out = children[i];
    out.setId(text_of(x.id));
    out.setRestart(convert(x.restart, schema::SupervisedChild::Restart::TEMPORARY));
    out.setState(convert(x.state, schema::SupervisedChild::State::ENDED));
    out.setRestarts(x.restarts);
    out.setLastReason(text_of(x.last_reason));
    if (!x.below.empty())
      write(x.below.front(), out.initBelow());
  }
}

supervisor_snapshot read(schema::Supervisor::Reader from) {
  supervisor_snapshot to{.path = string_of(from.getPath()),
                         .strategy =
                           convert(from.getStrategy(), supervision_strategy::rest_for_one),
                         .children = {},
                         .restarts = from.getRestarts(),
                         .abandoned = from.getAbandoned()};
  for (auto x : from.getChildren()) {
    to.children.push_back({string_of(x.getId()),
                           convert(x.getRestart(), restart_policy::temporary),
                           convert(x.getState(), child_state::ended),
                           x.getRestarts(),
                           string_of(x.getLastReason()),
                           {}});
    if (x.hasBelow())
      to.children.back().below.push_back(read(x.getBelow()));
  }
  return to;
}

void render(const supervisor_snapshot& x, size_t depth, std::string& out) {
  for (auto& child : x.children) {
    out.append(depth * 2, ' ').append(child.id).append("  ").append(to_string(child.state));
    if (child.restart != restart_policy::permanent)
      out.append(", ").append(to_string(child.restart));
    if (!child.below.empty())
      out.append(", ").append(to_string(child.below.front().strategy));
    if (child.restarts != 0)
      out.append(", restarts: ").append(std::to_string(child.restarts));
    if (!child.last_reason.empty())
      out.append(", last: ").append(child.last_reason);
    if (!child.below.empty() && child.below.front().abandoned != 0)
      out.append(", abandoned: ").append(std::to_string(child.below.front().abandoned));
    out.push_back('\n');
    for (auto& below : child.below) render(below, depth + 1, out);
  }
}

} // namespace

message<schema::SupervisionTree> encode(const supervision_tree& tree) {
  return message<schema::SupervisionTree>::make([&](schema::SupervisionTree::Builder to) {
    to.setProcess(text_of(tree.process));
    to.setRestarts(tree.past.restarts);
    to.setLastReason(text_of(tree.past.last_reason));
    auto roots = to.initRoots(static_cast<unsigned>(tree.roots.size()));
    for (unsigned i = 0; i < roots.size(); ++i) write(tree.roots[i], roots[i]);
  });
}

result<supervision_tree> decode(const message<schema::SupervisionTree>& in) {
  HEADRACE_TRY(in.status());
  supervision_tree tree{
    string_of(in->getProcess()), {in->getRestarts(), string_of(in->getLastReason())}, {}};
  for (auto root : in->getRoots()) tree.roots.push_back(read(root));
  return tree;
}

std::string render(const supervision_tree& tree) {
  std::string out = tree.process + "\n";
  for (auto& root : tree.roots) {
    out.append("  ").append(root.path).append("  ").append(to_string(root.strategy));
    if (root.restarts != 0)
      out.append(", restarts below: ").append(std::to_string(root.restarts));
    if (root.abandoned != 0)
      out.append(", abandoned: ").append(std::to_string(root.abandoned));
    out.push_back('\n');
    render(root, 2, out);
  }
  return out;
}

} // namespace headrace::detail
