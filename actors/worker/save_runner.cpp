#include "headrace/actors/worker/save_runner.hpp"

#include "headrace/pipeline/saving/save_steps.hpp"
#include "headrace/runtime/base/thread_time.hpp"

#include <fmt/format.h>

#include <mutex>
#include <stop_token>
#include <system_error>
#include <thread>
#include <utility>

namespace headrace::detail {

struct save_runner::shared {
  save_order what;
  dataset_ptr graph;
  task_surroundings of;
  uint64_t most_file_bytes;
  ended hear;
  std::stop_source halt;
  std::mutex mutex;
  bool stopped = false;
  bool runs = false;
  stopping_threads::token stopping = 0; ///< set when the thread was requested to stop
  clockid_t cpu_clock{};                ///< of the thread, while it runs

  void run();
  save_report take_step();
  result<save_planned> take(const plan_step&);
  result<piece_written> take(const piece_step& x);
  result<save_finished> take(const finish_step&);
  result<step_given_back> take(const note_step& x);
  iterator_context context();
};

namespace {

save_written written(const saved_amount& x) { return {x.rows, x.bytes}; }

} // namespace

iterator_context save_runner::shared::context() {
  iterator_context out;
  out.stop = halt.get_token();
  out.find_function = of.find_function;
  if (of.open_distribute)
    out.distribute = [this](const dataset_node& node) {
      return of.open_distribute(node, halt.get_token());
    };
  return out;
}

result<save_planned> save_runner::shared::take(const plan_step&) {
  HEADRACE_ASSIGN(const auto compression, saved_compression_of(what.what.compression));
  HEADRACE_ASSIGN(auto found,
                  open_save(what.what.path, graph,
                            {what.what.fingerprint, compression, what.workers}, context()));
  return save_planned{found.plan.id, std::move(found.there), found.whole, found.plan.whole_because,
                      written(found.amount)};
}

result<piece_written> save_runner::shared::take(const piece_step& x) {
  HEADRACE_ASSIGN(const auto plan, read_save_plan(what.what.path, what.plan));
  if (x.piece >= plan.pieces())
    return internal_error(fmt::format("piece {} of {}", x.piece, plan.pieces()));
  HEADRACE_ASSIGN(const auto done,
                  write_piece(what.what.path, graph, plan, x.piece, most_file_bytes, context()));
  return piece_written{written(done)};
}

result<save_finished> save_runner::shared::take(const finish_step&) {
  HEADRACE_ASSIGN(const auto plan, read_save_plan(what.what.path, what.plan));
  HEADRACE_ASSIGN(const auto done, finish_save(what.what.path, plan));
  return save_finished{written(done)};
}

result<step_given_back> save_runner::shared::take(const note_step& x) {
  // A failure to write the note is ignored: no step needs the note, and clients have time-outs.
  if (what.plan != 0)
    static_cast<void>(note_save_failure(what.what.path, what.plan, x.why));
  return step_given_back{};
}

save_report save_runner::shared::take_step() {
  save_report out{what.what.id, what.number, step_given_back{}};
  status failed;
  try {
    failed = std::visit(
      [&](const auto& x) -> status {
        auto done = take(x);
        auto how = done.status();
        if (done)
          out.how = *std::move(done);
        return how;
      },
      what.step);
  } catch (const std::exception& thrown) {
    failed = internal_error(fmt::format("the thread that saves threw: {}", thrown.what()));
  } catch (...) {
    failed = internal_error("the thread that saves threw what is no std::exception");
  }
  if (failed.ok() || halt.stop_requested())
    return out;
  if (const auto* piece = std::get_if<piece_step>(&what.step))
    failed = failed.with_context(fmt::format("piece {}", piece->piece));
  out.how = failed;
  // The note ends the waits of clients that read the pieces. If it cannot be written, their waits
  // end with a time-out.
  if (what.plan != 0)
    static_cast<void>(note_save_failure(what.what.path, what.plan, failed));
  else
    note_failed_plan(what.what.path, failed);
  return out;
}

void save_runner::shared::run() {
  auto how = take_step();
  std::lock_guard lock{mutex};
  runs = false;
  if (!stopped)
    hear(std::move(how));
  else if (of.threads)
    of.threads->remove(stopping);
}

save_runner::save_runner(save_order what, dataset_ptr graph, task_surroundings of,
                         uint64_t most_file_bytes)
  : shared_(std::make_shared<shared>()) {
  shared_->what = std::move(what);
  shared_->graph = std::move(graph);
  shared_->of = std::move(of);
  shared_->most_file_bytes = most_file_bytes;
}

void save_runner::start(ended hear) {
  std::unique_lock lock{shared_->mutex};
  shared_->hear = std::move(hear);
  try {
    std::thread thread{[s = shared_] { s->run(); }};
    shared_->runs = true;
    ::pthread_getcpuclockid(thread.native_handle(), &shared_->cpu_clock);
    thread.detach();
  } catch (const std::system_error& why) {
    shared_->hear({shared_->what.what.id, shared_->what.number,
                   resource_exhausted(fmt::format(
                     "a thread to save a dataset could not be started ({}): the machine or this "
                     "user's limits allow no more threads; raise the limit (ulimit -u)",
                     why.what()))});
  }
}

void save_runner::stop() {
  std::lock_guard lock{shared_->mutex};
  if (std::exchange(shared_->stopped, true))
    return;
  if (shared_->runs && shared_->of.threads)
    shared_->stopping = shared_->of.threads->add(
      clock::system().now(), [which = shared_->cpu_clock] { return cpu_time_of(which); });
  shared_->halt.request_stop();
  shared_->hear = {};
}

} // namespace headrace::detail
