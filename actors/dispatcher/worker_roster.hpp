#pragma once

#include "headrace/runtime/base/ids.hpp"
#include "headrace/runtime/base/result.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace headrace::detail {

/// The worker to which an entry of the list of workers belongs, or belonged last.
struct worker_place {
  worker_id worker;
  std::string data_address;
  friend bool operator==(const worker_place&, const worker_place&) = default;
};

/// A dispatcher's list of workers. The index of a worker's entry is the worker's shard under a
/// static policy. Empty: any worker may register, and no job may have a static policy.
class worker_roster {
public:
  worker_roster() = default;
  /// Entries are `host` or `host:%port%`, for one worker there at any port, and `host:port`; an
  /// IPv6 address before a port is in brackets. A host may be listed several times, for as many
  /// workers.
  /// `invalid_argument` names an entry that is none of these, or a `host:port` that is there twice.
  static result<worker_roster> of(const std::vector<std::string>& entries);

  bool empty() const noexcept { return entries_.empty(); }
  uint32_t size() const noexcept { return static_cast<uint32_t>(entries_.size()); }
  /// The entries, in the form in which they were given.
  std::vector<std::string> names() const;

  /// The index of the entry for the worker at `data_address`: the entry that belongs to this
  /// worker, else one with its port, else one for any port. `holds` returns true if the worker of a
  /// place keeps its entry. `permission_denied`: the list has no such worker; `already_exists`: the
  /// entries belong to other workers. @pre the list is not empty
  result<uint32_t> place_for(const std::string& data_address,
                             const std::map<uint32_t, worker_place>& places,
                             const std::function<bool(const worker_place&)>& holds) const;

private:
  struct entry {
    std::string name;
    std::string host;
    std::optional<uint16_t> port; ///< unset: any port
  };
  static bool fits(const entry& what, const std::string& data_address);

  std::vector<entry> entries_;
};

} // namespace headrace::detail
