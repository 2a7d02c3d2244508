// link_rate [ROUNDS [SIZE [-]]]: measures in turn the rates of a link between two processes and of
// a bare framed socket, for several message sizes; prints the medians and their ratio. SIZE: the
// only size to measure; 0: all sizes. With a third argument the bare socket is not measured.

#include "benchmarks/raw_stream.hpp"
#include "headrace/runtime/link/link_service.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <future>
#include <mutex>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace headrace::detail::bench {

namespace {

// The bytes that may be in transit: the receiver grants credit for this many, as in a stream. For
// large messages the credit is 4 messages even if these are more bytes.
constexpr size_t window_bytes = size_t{4} << 20;

size_t window_of(size_t size) { return std::max<size_t>(4, window_bytes / size); }

buffer small_header() {
  static const uint64_t words[16] = {};
  return buffer::copy_of(words, sizeof(words));
}

[[noreturn]] void produce(uint16_t port, size_t size, size_t count) {
  link_service service;
  std::promise<std::shared_ptr<link>> made;
  service.connect("127.0.0.1", port, [&](auto x) { made.set_value(x ? *x : nullptr); });
  auto to = made.get_future().get();
  if (!to)
    ::_exit(1);
  std::mutex mutex;
  std::condition_variable changed;
  auto credit = window_of(size);
  auto over = false;
  to->set_handlers({.on_message =
                      [&](link_message m) {
                        std::lock_guard hold{mutex};
                        credit += m.header.as<uint64_t>()[0];
                        changed.notify_one();
                      },
                    .on_closed =
                      [&](const status&) {
                        std::lock_guard hold{mutex};
                        over = true;
                        changed.notify_one();
                      }});
  for (size_t i = 0; i < count; ++i) {
    mutable_buffer block{size};
    fill_block(block.data(), size, static_cast<int64_t>(i));
    {
      std::unique_lock hold{mutex};
      changed.wait(hold, [&] { return credit != 0 || over; });
      --credit;
    }
    to->send({.channel = 1, .header = small_header(), .payload = {std::move(block).freeze()}});
  }
  std::unique_lock hold{mutex};
  changed.wait(hold, [&] { return over; });
  ::_exit(0);
}

double link_rate(size_t size, size_t count) {
  // The child is forked before this process has threads. The child reads the port from the pipe.
  int pipe_fd[2];
  if (::pipe(pipe_fd) != 0)
    throw std::runtime_error{"no pipe"};
  auto child = ::fork();
  if (child == 0) {
    uint16_t port = 0;
    if (::read(pipe_fd[0], &port, sizeof(port)) != sizeof(port))
      ::_exit(1);
    produce(port, size, count);
  }
  using time = std::chrono::steady_clock::time_point;
  std::promise<time> done;
  double seconds = 0;
  {
    link_service service;
    auto window = window_of(size);
    auto received = size_t{0};
    int64_t sum = 0;
    time begin;
    auto port = service.listen("127.0.0.1", 0, [&](std::shared_ptr<link> from) {
      begin = std::chrono::steady_clock::now();
      from->set_handlers({.on_message = [&, from = from.get()](link_message m) {
        sum += sum_of(m.payload[0].data(), m.payload[0].size());
        ++received;
        auto quarter = std::max<uint64_t>(1, window / 4);
        if (received % quarter == 0)
          from->send(
            {.channel = 1, .header = buffer::copy_of(&quarter, sizeof(quarter)), .payload = {}});
        if (received == count)
          done.set_value(std::chrono::steady_clock::now());
      }});
    });
    if (!port)
      throw error{port.status()};
    if (::write(pipe_fd[1], &*port, sizeof(uint16_t)) != sizeof(uint16_t))
      throw std::runtime_error{"no pipe"};
    seconds = std::chrono::duration<double>(done.get_future().get() - begin).count();
    [[maybe_unused]] volatile int64_t kept = sum;
  }
  ::close(pipe_fd[0]);
  ::close(pipe_fd[1]);
  ::waitpid(child, nullptr, 0);
  return static_cast<double>(size) * static_cast<double>(count) / seconds;
}

double median(std::vector<double> xs) {
  std::sort(xs.begin(), xs.end());
  return xs[xs.size() / 2];
}

} // namespace

int run(int rounds, size_t only, bool no_raw) {
  std::printf("%10s %12s %12s %8s\n", "size", "link GB/s", "raw GB/s", "ratio");
  for (auto size :
       {size_t{4} << 10, size_t{64} << 10, size_t{256} << 10, size_t{1} << 20, size_t{16} << 20}) {
    if (only != 0 && size != only)
      continue;
    auto count = std::max<size_t>(64, (size_t{3} << 30) / std::max<size_t>(size, 32 << 10));
    std::vector<double> ours, raw;
    for (int i = 0; i < rounds; ++i) {
      ours.push_back(link_rate(size, count));
      raw.push_back(no_raw ? 1e9 : raw_stream_rate(size, count));
    }
    std::printf("%10zu %12.2f %12.2f %8.2f\n", size, median(ours) / 1e9, median(raw) / 1e9,
                median(ours) / median(raw));
    std::fflush(stdout);
  }
  return 0;
}

} // namespace headrace::detail::bench

int main(int argc, char** argv) {
  try {
    return headrace::detail::bench::run(argc > 1 ? std::atoi(argv[1]) : 5,
                                        argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 0,
                                        argc > 3);
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "%s\n", failure.what());
    return 1;
  }
}
