#pragma once

#include "headrace/actors/store/record_codec.hpp"
#include "headrace/runtime/base/buffer.hpp"
#include "headrace/runtime/base/result.hpp"

#include <map>
#include <string>

namespace headrace::detail {

/// A registered dataset.
struct dataset_record {
  buffer graph;            ///< a Graph message
  buffer spec;             ///< an ElementSpec message
  std::string fingerprint; ///< SHA-256 of the canonical graph
  friend bool operator==(const dataset_record& a, const dataset_record& b) {
    return a.fingerprint == b.fingerprint; // equal fingerprints mean equal graphs
  }
};

/// Maps ids to datasets. A graph may have several ids. It is kept once, by its fingerprint, as long
/// as it has an id.
class dataset_table {
public:
  /// The id under which a graph would be registered: `id`, or a new one if `id` is empty.
  /// already_exists: it is the id of another graph.
  result<std::string> id_for(std::string id, const dataset_record& what) const;
  /// Registers a graph under an id that `id_for` returned. Returns false if the id is registered
  /// already. If the table has the graph, `what` needs only the fingerprint.
  bool add(const std::string& id, dataset_record what);
  /// Removes an id.
  void remove(const std::string& id);
  /// A dataset with that fingerprint; null if there is none.
  const dataset_record* with_fingerprint(const std::string& fingerprint) const;
  /// The dataset with that id. not_found names the id and the number of ids in the table.
  result<const dataset_record*> find(const std::string& id) const;
  size_t size() const noexcept { return ids_.size(); }
  /// The bytes of the graph with that fingerprint, if it has exactly this many ids; else 0.
  size_t bytes_for_ids(const std::string& fingerprint, size_t ids) const;
  /// The bytes of all graphs.
  size_t bytes() const noexcept { return bytes_; }
  friend bool operator==(const dataset_table&, const dataset_table&) = default;

private:
  friend struct state_codec<dataset_table>;
  struct kept {
    dataset_record what;
    size_t ids = 0; ///< the number of its ids
    friend bool operator==(const kept&, const kept&) = default;
  };
  std::map<std::string, std::string> ids_; ///< maps ids to fingerprints
  std::map<std::string, kept> by_fingerprint_;
  size_t bytes_ = 0;
  uint64_t last_ = 1000;
};

} // namespace headrace::detail
