#include "headrace/pipeline/saving/kept_folders.hpp"

#include "headrace/pipeline/graph/rewrite.hpp"
#include "headrace/pipeline/graph_codec/graph_codec.hpp"
#include "headrace/pipeline/makers/dataset_makers.hpp"
#include "headrace/pipeline/storage/saved_manifest.hpp"

#include <unordered_map>

namespace headrace::detail {

namespace {

class kept_folders {
public:
  /// Returns the graph in which each node whose elements are kept in a folder is replaced by a
  /// source that reads the folder. Visits the outermost nodes first, because nothing is read below
  /// a node that is replaced.
  result<dataset_ptr> visit(const dataset_ptr& node) {
    if (const auto known = made_.find(node.get()); known != made_.end())
      return known->second;
    HEADRACE_ASSIGN(auto out, make(node));
    made_.emplace(node.get(), out);
    return out;
  }

private:
  result<dataset_ptr> make(const dataset_ptr& node) {
    if (node->op == dataset_op::distribute)
      return node;
    HEADRACE_ASSIGN(const auto folder, folder_of(*node));
    if (!folder.empty()) {
      HEADRACE_ASSIGN(const auto found, find_saved(folder));
      if (found)
        return node->inputs.size() > 1
                 ? shards_known(node->inputs[1], static_cast<int64_t>(found->shards.size()))
                 : make_load(folder, node->spec, static_cast<int64_t>(found->blocks()),
                             static_cast<int64_t>(found->rows()));
    }
    auto changed = *node;
    bool other = false;
    for (auto& input : changed.inputs) {
      HEADRACE_ASSIGN(auto made, visit(input));
      other |= made != input;
      input = std::move(made);
    }
    return other ? finish_over(std::move(changed)) : node;
  }

  /// The folder in which the node keeps elements; empty: it has none.
  static result<std::string> folder_of(const dataset_node& node) {
    if (const auto* cache = node.find<cache_parameters>())
      return cache->folder;
    const auto* snapshot = node.find<snapshot_parameters>();
    if (!snapshot)
      return std::string{};
    HEADRACE_ASSIGN(const auto name, fingerprint(node.inputs[0]));
    return snapshot->folder + "/" + name;
  }

  static result<dataset_ptr> shards_known(const dataset_ptr& reader, int64_t shards) {
    HEADRACE_ASSIGN(const auto numbers, make_range(0, shards, 1));
    return rewrite_nodes(reader, [&](dataset_node& x, bool) {
      if (x.op != dataset_op::saved_shards)
        return false;
      x = *numbers;
      return true;
    });
  }

  std::unordered_map<const dataset_node*, dataset_ptr> made_;
};

} // namespace

result<dataset_ptr> read_kept_folders(const dataset_ptr& graph) {
  return kept_folders{}.visit(graph);
}

} // namespace headrace::detail
