#include "headrace/pipeline/graph/reads_files.hpp"

#include "headrace/pipeline/graph/operator_record.hpp"
#include "headrace/pipeline/graph/rewrite.hpp"

namespace headrace::detail {

bool reads_named_files(dataset_op op) noexcept {
  return find_record(op)->source.files == file_use::named;
}

bool reads_files(const dataset_ptr& graph) {
  return any_node(
    graph, [](const dataset_node& x) { return record_of(x).source.files != file_use::none; });
}

} // namespace headrace::detail
