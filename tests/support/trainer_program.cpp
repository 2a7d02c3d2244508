// A trainer in a process of its own, for tests that stop, cut off and kill it. It reads one
// repetition of a job, element by element, and writes each element into a record before it requests
// the next (trainer_orders.hpp has the arguments). It prints "begun" when it has read
// `begun_after` elements, or when its reading ends before that. Its exit code is 0 however the
// repetition ends; the record contains the final status.

#include "headrace/client/internal/service_node.hpp"
#include "headrace/runtime/base/clock.hpp"
#include "headrace/runtime/node/node.hpp"
#include "tests/support/reading_record.hpp"
#include "tests/support/trainer_orders.hpp"

#include <cstdio>
#include <exception>
#include <thread>

namespace {

using namespace headrace;
using namespace headrace::detail;
using namespace headrace::detail::test;

node_options node_with_log(const std::string& file) {
  auto out = service_node(node_role::consumer);
  out.log = logger::open({.level = log_level::debug, .file = file}).value();
  return out;
}

class trainer {
public:
  explicit trainer(trainer_orders orders)
    : orders_(std::move(orders)),
      record_(reading_record::open(orders_.record)),
      node_(node::process(node_with_log(orders_.record + ".log")).value()) {}

  void run() {
    try {
      record_.end(read());
    } catch (const error& e) {
      record_.end(e.why());
    }
    say_begun();
  }

private:
  status read() {
    const bool dynamic = orders_.mode == "dynamic" || orders_.mode == "at_least_once";
    distribute_options options{
      .processing_mode = dynamic ? sharding_policy::dynamic : sharding_policy::off,
      .service = orders_.dispatcher,
      .job_name = orders_.job,
      .max_outstanding_requests = orders_.most_outstanding,
      .worker_timeout = std::chrono::milliseconds{orders_.worker_timeout_ms},
      .guarantee = orders_.mode == "at_least_once" ? delivery_guarantee::at_least_once
                                                   : delivery_guarantee::at_most_once};
    if (orders_.mode == "cache")
      options.cross_trainer_cache = trainer_cache{.trainer_id = orders_.member};
    if (orders_.mode == "rounds")
      options.coordinated_reads =
        coordinated_reads{.consumer_index = static_cast<uint32_t>(std::stoul(orders_.member)),
                          .num_consumers = orders_.members,
                          .rejoin = orders_.rejoins,
                          .consumer_timeout = std::chrono::minutes{1}};
    const distribute by{std::move(options)};
    record_.asks(now());
    auto it = read_graph(orders_.graph, orders_.total)
                .apply(by)
                .iterate({
                  .warn = [this](const std::string& what) { record_.remark(what); },
                });
    for (int64_t steps = 1;; ++steps) {
      record_.asks(now());
      const auto next = it.next();
      const auto answered = now();
      record_.was_answered(answered);
      if (!next)
        return next.status();
      if (!*next)
        return {};
      for (auto x : (**next)[0].as<int64_t>()) record_.add(x, answered);
      if (orders_.most != 0 && record_.count() >= static_cast<uint64_t>(orders_.most))
        return {};
      if (record_.count() >= static_cast<uint64_t>(orders_.begun_after))
        say_begun();
      // This pause stands for the work that a trainer does with its elements.
      if (steps % orders_.burst == 0)
        std::this_thread::sleep_for(std::chrono::microseconds{orders_.pause_us});
    }
  }
  static time_point now() { return clock::system().now(); }
  void say_begun() {
    if (std::exchange(said_, true))
      return;
    std::puts("begun");
    std::fflush(stdout);
  }

  trainer_orders orders_;
  reading_record record_;
  std::shared_ptr<node> node_; ///< the process's node, which the iteration uses
  bool said_ = false;
};

} // namespace

int main(int count, char** arguments) try {
  trainer{trainer_orders::parse({arguments + 1, arguments + count})}.run();
} catch (const std::exception& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
