#include "headrace/pipeline/iterator/position_reader.hpp"

#include <fmt/format.h>

namespace headrace::detail {

uint64_t position_reader::number(uint64_t most) noexcept {
  if (numbers_ == from_.numbers.size() || from_.numbers[numbers_] > most) {
    fits_ = false;
    return 0;
  }
  return from_.numbers[numbers_++];
}

position_ptr position_reader::part() noexcept {
  if (parts_ == from_.parts.size()) {
    fits_ = false;
    return nullptr;
  }
  return from_.parts[parts_++];
}

status position_reader::restore(iterator& it) {
  if (const auto at = part())
    return it.restore(*at);
  fits_ = false;
  return finish();
}

status position_reader::resume(iterator& it) {
  const auto skip = number();
  HEADRACE_TRY(restore(it));
  return drop_rows(it, skip);
}

status position_reader::finish() const {
  if (fits_ && empty())
    return {};
  return data_loss(fmt::format(
    "the position of a {} does not fit: the dataset or its data is not what it was when "
    "the position was saved",
    to_string(from_.op)));
}

void put(position& to, resume_point point) {
  to.numbers.push_back(point.skip);
  to.parts.push_back(std::move(point.at));
}

status drop_rows(iterator& from, uint64_t rows) {
  constexpr uint64_t most = 4096;
  for (auto left = rows; left != 0;) {
    const auto dropped = from.next({static_cast<size_t>(std::min(left, most)), limits{}.bytes});
    if (!dropped)
      return data_loss(fmt::format("the data ended {} rows before the saved position: it is not "
                                   "what it was when the position was saved",
                                   left));
    left -= dropped->rows;
  }
  return {};
}

} // namespace headrace::detail
