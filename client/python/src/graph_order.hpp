#pragma once

#include "headrace/pipeline/graph/dataset_node.hpp"

namespace headrace::python {

/// Is every element read from a job that has a name, which others may read from too?
bool reads_shared_job(const dataset_node& x);

/// What makes the order of elements another one in another process, by the operators' names.
struct order_facts {
  std::string drawn;    ///< the first one that draws its order and was given no seed, or empty
  std::string reorders; ///< the first one that gives elements as they are done, or empty
  bool service = false; ///< elements come from a service
};
order_facts order_of(const dataset_node& x);

} // namespace headrace::python
