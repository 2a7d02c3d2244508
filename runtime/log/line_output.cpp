#include "headrace/runtime/log/line_output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <poll.h>
#include <string>
#include <unistd.h>

namespace headrace::detail {

void line_output::write(std::string_view line) {
  std::lock_guard lock{mutex_};
  std::string whole;
  if (left_out_ != 0)
    whole = fmt::format("{}({} line{} left out here: nobody read them in time)\n",
                        broken_off_ ? "\n" : "", left_out_, left_out_ == 1 ? " was" : "s were");
  const auto remark = whole.size();
  whole += line;
  if (whole.empty() || whole.back() != '\n')
    whole += '\n';
  const std::string_view all{whole};
  if (put(all.substr(0, remark), duration{0})) {
    if (remark != 0)
      left_out_ = 0, broken_off_ = false;
    if (put(all.substr(remark), patience_))
      return;
  }
  ++left_out_;
}

/// Writes text. False: a part of it was not written within `limit`. Errors are ignored.
bool line_output::put(std::string_view text, duration limit) {
  const auto until = clock::system().now() + limit;
  for (bool begun = false; !text.empty(); begun = true) {
    pollfd one{fd_, POLLOUT, 0};
    const auto left = std::max<duration>(until - clock::system().now(), duration{0});
    const auto milliseconds = std::chrono::ceil<std::chrono::milliseconds>(left).count();
    if (::poll(&one, 1, static_cast<int>(milliseconds)) <= 0) {
      broken_off_ |= begun;
      return false;
    }
    // A pipe that is ready takes this number of bytes without blocking.
    const auto n = ::write(fd_, text.data(), std::min<size_t>(text.size(), PIPE_BUF));
    if (n < 0 && errno != EINTR && errno != EAGAIN)
      return true; // there is no longer a reader
    text.remove_prefix(n < 0 ? 0 : static_cast<size_t>(n));
  }
  return true;
}

} // namespace headrace::detail
