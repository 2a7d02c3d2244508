#include "headrace/client/dataset.hpp"
#include "headrace/client/dataset_iterator.hpp"
#include "headrace/pipeline/makers/auto_shard.hpp"
#include "python.hpp"

#include <nanobind/stl/pair.h>

namespace headrace::detail::python {
namespace {

/// Reads a dataset of file names, and returns the number of its rows, or `most` if it has more.
result<int64_t> count_names_here(const dataset_ptr& names, int64_t most) {
  dataset_iterator rows{names, {}};
  for (int64_t count = 0; count < most; ++count) {
    HEADRACE_ASSIGN(const auto one, rows.next());
    if (!one)
      return count;
  }
  return most;
}

} // namespace

void bind_sharding(nb::module_& m) {
  m.def(
    "auto_shard",
    [](const dataset& x, const std::string& policy, int64_t shards, int64_t index) {
      const auto how = sharding_policy_of(policy).value();
      const shard_place place{.shards = shards, .index = index};
      const nb::gil_scoped_release others_run;
      if (how != sharding_policy::file_or_data)
        return std::pair{dataset{auto_shard(x.node(), how, place, count_names_here).value()},
                         policy};
      // The result contains the policy by which the dataset was divided: file or data.
      if (auto by_file = auto_shard(x.node(), sharding_policy::file, place, count_names_here))
        return std::pair{dataset{*std::move(by_file)}, std::string{"file"}};
      return std::pair{dataset{auto_shard(x.node(), how, place, count_names_here).value()},
                       std::string{"data"}};
    },
    nb::arg("graph"), nb::arg("policy"), nb::arg("shards"), nb::arg("index"));
}

} // namespace headrace::detail::python
