#pragma once

#include "headrace/pipeline/graph/dataset_node.hpp"

namespace headrace::python {

/// True if every element is read from a job with a name, which others may read, too.
bool reads_shared_job(const dataset_node& x);

/// The operators, by name, because of which the order of elements may differ between processes.
struct order_facts {
  std::string drawn;    ///< the first one that draws its order without a given seed; else empty
  std::string reorders; ///< the first one that gives elements as they are done; else empty
  bool service = false; ///< elements come from a service
};
order_facts order_of(const dataset_node& x);

} // namespace headrace::python
