#include "headrace/runtime/link/greeting_crowd.hpp"

#include <utility>

namespace headrace::detail {

greeting_crowd::ticket greeting_crowd::enter(size_t most, std::function<void()> drop) {
  std::function<void()> oldest;
  ticket out = 0;
  {
    std::lock_guard hold{mutex_};
    out = ++last_;
    all_.emplace(out, std::move(drop));
    if (all_.size() > most)
      oldest = std::move(all_.extract(all_.begin()).mapped());
  }
  if (oldest)
    oldest();
  return out;
}

void greeting_crowd::replace(ticket which, std::function<void()> drop) {
  std::lock_guard hold{mutex_};
  if (auto at = all_.find(which); at != all_.end())
    std::swap(at->second, drop);
}

bool greeting_crowd::leave(ticket which) {
  std::lock_guard hold{mutex_};
  return all_.erase(which) != 0;
}

size_t greeting_crowd::size() const {
  std::lock_guard hold{mutex_};
  return all_.size();
}

} // namespace headrace::detail
