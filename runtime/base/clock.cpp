#include "headrace/runtime/base/clock.hpp"

namespace headrace {

namespace {

class system_clock final : public clock {
  time_point now() const noexcept override { return std::chrono::steady_clock::now(); }
};

} // namespace

const clock& clock::system() noexcept {
  static const system_clock instance;
  return instance;
}

} // namespace headrace
