#include "headrace/pipeline/iterator/position_reader.hpp"

#include "headrace/runtime/base/status_code.hpp"
#include "headrace/runtime/base/utf8.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>

namespace headrace::detail {

namespace {

/// The most bytes that are stored of a failure's message.
constexpr size_t longest_text = 4096;

} // namespace

position_reader::position_reader(const position& from)
  : from_(from), numbers_(from.numbers), parts_(from.parts) {
  if (!from.later)
    return;
  const auto later = choice_log::reader{}.after(*from.later);
  fits_ = !later.incomplete;
  numbers_.insert(numbers_.end(), later.numbers.begin(), later.numbers.end());
  parts_.insert(parts_.end(), later.opened.begin(), later.opened.end());
}

uint64_t position_reader::number(uint64_t most) noexcept {
  if (!has_number() || numbers_[next_number_] > most) {
    fits_ = false;
    return 0;
  }
  return numbers_[next_number_++];
}

position_ptr position_reader::part() noexcept {
  if (!has_part()) {
    fits_ = false;
    return nullptr;
  }
  return parts_[next_part_++];
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

status position_reader::failure() {
  const auto code = number(UINT16_MAX);
  if (code == 0)
    return {};
  const bool ends_run = flag();
  std::string text(number(longest_text), 0);
  for (size_t at = 0; at < text.size(); at += sizeof(uint64_t)) {
    const auto word = number();
    std::memcpy(text.data() + at, &word, std::min(sizeof word, text.size() - at));
  }
  const status out{status_code_of(static_cast<uint16_t>(code)), std::move(text)};
  return ends_run ? out.that_ends_run() : out;
}

void put(position& to, const status& failure) {
  to.numbers.push_back(static_cast<uint64_t>(failure.code()));
  if (failure.ok())
    return;
  to.numbers.push_back(failure.ends_run() ? 1 : 0);
  const auto text = utf8_prefix(failure.message(), longest_text);
  to.numbers.push_back(text.size());
  for (size_t at = 0; at < text.size(); at += sizeof(uint64_t)) {
    uint64_t word = 0;
    std::memcpy(&word, text.data() + at, std::min(sizeof word, text.size() - at));
    to.numbers.push_back(word);
  }
}

void put(position& to, resume_point point) {
  to.numbers.push_back(point.skip);
  to.parts.push_back(std::move(point.at));
}

status data_changed() {
  return data_loss("restore: the data is not what it was when the position was saved")
    .that_ends_run();
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
