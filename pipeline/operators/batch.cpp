#include "headrace/pipeline/operators/batch_columns.hpp"
#include "headrace/pipeline/operators/batch_iterator.hpp"

namespace headrace::detail {

namespace {

class plain_batch_iterator final : public batch_iterator {
public:
  using batch_iterator::batch_iterator;

private:
  block batched(const block& rows, size_t size) override { return batch_rows(rows, size); }
};

} // namespace

opened open_batch(engine& shared, const dataset_ptr& node, const place& at) {
  return open_over_input<plain_batch_iterator>(shared, node, at);
}

} // namespace headrace::detail
