#pragma once

#include "headrace/actors/dispatcher/dataset_table.hpp"
#include "headrace/actors/job/iteration.hpp"

#include <map>
#include <string>
#include <variant>

namespace headrace {

/// The durable state of a dispatcher: which datasets are registered and which jobs there are.
/// Changes only by facts; the same facts make the same state. What a job does is in its job_core.
class service_core {
public:
  struct job {
    job_id id;
    std::string name; ///< empty: anonymous
    std::string dataset_id;
    processing_mode mode = processing_mode::off;
    std::string key; ///< who asks with this key means this job
    friend bool operator==(const job&, const job&) = default;
  };
  struct dataset_registered {
    std::string id;
    dataset_record what;
    friend bool operator==(const dataset_registered&, const dataset_registered&) = default;
  };
  struct job_started {
    job what;
    friend bool operator==(const job_started&, const job_started&) = default;
  };
  struct job_over {
    job_id id;
    friend bool operator==(const job_over&, const job_over&) = default;
  };
  using fact = std::variant<dataset_registered, job_started, job_over>;

  void apply(const fact& what) {
    std::visit([this](const auto& x) { on(x); }, what);
  }

  const dataset_table& datasets() const noexcept { return datasets_; }
  const std::map<job_id, job>& jobs() const noexcept { return jobs_; }
  /// Null if there is none.
  const job* job_of(const std::string& key) const {
    auto at = by_key_.find(key);
    return at != by_key_.end() ? &jobs_.at(at->second) : nullptr;
  }

  friend bool operator==(const service_core&, const service_core&) = default;

private:
  void on(const dataset_registered& x) { datasets_.add(x.id, x.what); }
  void on(const job_started& x) {
    jobs_.insert_or_assign(x.what.id, x.what);
    by_key_[x.what.key] = x.what.id;
  }
  void on(const job_over& x) {
    auto at = jobs_.find(x.id);
    if (at == jobs_.end())
      return;
    by_key_.erase(at->second.key);
    jobs_.erase(at);
  }

  dataset_table datasets_;
  std::map<job_id, job> jobs_;
  std::map<std::string, job_id> by_key_;
};

} // namespace headrace
