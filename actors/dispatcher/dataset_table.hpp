#pragma once

#include "headrace/actors/store/record_codec.hpp"
#include "headrace/runtime/base/buffer.hpp"
#include "headrace/runtime/base/result.hpp"

#include <map>
#include <string>

namespace headrace {

/// A registered dataset: a graph and what its readers need to know of it.
struct dataset_record {
  buffer graph;            ///< a Graph message
  buffer spec;             ///< an ElementSpec message
  std::string fingerprint; ///< SHA-256 of the canonical graph
  friend bool operator==(const dataset_record& a, const dataset_record& b) {
    return a.fingerprint == b.fingerprint; // which says it all
  }
};

/// Which graph an id means. Ids are aliases: graphs are kept once each, by fingerprint, as long as
/// an id means them.
class dataset_table {
public:
  /// Under which id a graph would be registered: `id`, or a new one if it is empty. The same graph
  /// under the same id again is fine; another graph under a taken id is already_exists.
  result<std::string> id_for(std::string id, const dataset_record& what) const;
  /// Registers under an id that `id_for` gave. False: it is there already. Of a known graph the
  /// fingerprint suffices.
  bool add(const std::string& id, dataset_record what);
  /// Forgets an id.
  void remove(const std::string& id);
  /// What is registered with that fingerprint, under whatever id; null if nothing is.
  const dataset_record* with_fingerprint(const std::string& fingerprint) const;
  /// not_found names the id and how many there are.
  result<const dataset_record*> find(const std::string& id) const;
  size_t size() const noexcept { return ids_.size(); }
  /// Of the graph with that fingerprint, if just so many ids mean it; else 0.
  size_t bytes_for_ids(const std::string& fingerprint, size_t ids) const;
  /// Of all graphs.
  size_t bytes() const noexcept { return bytes_; }
  friend bool operator==(const dataset_table&, const dataset_table&) = default;

private:
  friend struct state_codec<dataset_table>;
  struct kept {
    dataset_record what;
    size_t ids = 0; ///< that mean it
    friend bool operator==(const kept&, const kept&) = default;
  };
  std::map<std::string, std::string> ids_; ///< to fingerprint
  std::map<std::string, kept> by_fingerprint_;
  size_t bytes_ = 0;
  uint64_t last_ = 1000;
};

} // namespace headrace
