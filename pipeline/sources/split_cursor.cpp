#include "headrace/pipeline/sources/split_cursor.hpp"

namespace headrace::detail {

split_cursor::split_cursor(engine& shared, const place& at, uint64_t total)
  : engine_(shared), total_(total) {
  if (at.in_function())
    return; // a function's datasets are read whole
  source_ = at.first_source;
  pass_ = shared.start_pass(source_);
  provided_ = shared.context().splits != nullptr;
}

result<std::optional<split_range>> split_cursor::next() {
  if (!provided_) {
    if (given_ || total_ == 0)
      return std::optional<split_range>{};
    given_ = true;
    return std::optional{split_range{0, total_}};
  }
  while (true) {
    HEADRACE_ASSIGN(auto range, engine_.next_splits(source_, pass_, total_));
    if (!range)
      return range;
    if (range->first >= total_)
      continue;
    range->count = std::min(range->count, total_ - range->first);
    if (range->count != 0)
      return range;
  }
}

} // namespace headrace::detail
