#include "headrace/pipeline/engine/byte_budget.hpp"

namespace headrace::detail {

namespace {

// The largest size that is assumed for a row of an operator whose row size is unknown.
constexpr size_t unknown_row = 4096;

} // namespace

void byte_budget::saw(size_t held) noexcept {
  auto before = peak_.load();
  while (before < held && !peak_.compare_exchange_weak(before, held)) {
  }
}

bool byte_budget::try_take(size_t bytes) noexcept {
  auto held = held_.load();
  do {
    if (held > most_ || bytes > most_ - held)
      return false;
  } while (!held_.compare_exchange_weak(held, held + bytes));
  saw(held + bytes);
  return true;
}

bool byte_budget::take(size_t bytes) noexcept {
  if (try_take(bytes))
    return true;
  // The second try is needed for bytes that are given back between the first try and this line: no
  // listener is called for them.
  refused_ = true;
  return try_take(bytes);
}

void byte_budget::add(size_t bytes) noexcept { saw(held_ += bytes); }

void byte_budget::give_back(size_t bytes) noexcept {
  if (bytes == 0)
    return;
  held_ -= bytes;
  if (!refused_.exchange(false))
    return;
  std::lock_guard lock{mutex_};
  for (const auto& more_room : listeners_) more_room();
}

budget_share::budget_share(std::shared_ptr<byte_budget> of, std::shared_ptr<row_size> rows,
                           std::function<void()> more_room)
  : of_(std::move(of)), row_bytes_(rows ? std::move(rows) : std::make_shared<row_size>(0)) {
  if (!of_)
    return;
  std::lock_guard lock{of_->mutex_};
  listener_ = of_->listeners_.insert(of_->listeners_.end(), std::move(more_room));
}

budget_share::~budget_share() {
  if (!of_)
    return;
  {
    std::lock_guard lock{of_->mutex_};
    of_->listeners_.erase(listener_);
  }
  of_->give_back(held_);
}

budget_share::taken budget_share::take(size_t rows) noexcept {
  if (!of_)
    return {rows, 0};
  const auto known = row_bytes_->load();
  const auto each = known != 0 ? known : std::min(unknown_row, of_->most() / 64 + 1);
  const auto held = of_->held();
  const auto room = held < of_->most() ? of_->most() - held : 0;
  const auto fit = std::clamp<size_t>(room / each, 1, rows);
  if (!of_->take(fit * each))
    return {};
  held_ += fit * each;
  return {fit, fit * each};
}

size_t budget_share::settle(size_t before, size_t rows, size_t bytes) noexcept {
  if (!of_)
    return 0;
  saw(rows, bytes);
  if (bytes <= before)
    return before - bytes;
  held_ += bytes - before;
  of_->add(bytes - before);
  return 0;
}

void budget_share::saw(size_t rows, size_t bytes) noexcept {
  if (rows != 0)
    *row_bytes_ = std::max<size_t>(1, (bytes + rows - 1) / rows);
}

void budget_share::give_back(size_t bytes) noexcept {
  if (!of_ || bytes == 0)
    return;
  held_ -= bytes;
  of_->give_back(bytes);
}

} // namespace headrace::detail
