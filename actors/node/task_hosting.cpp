#include "headrace/actors/node/task_hosting.hpp"

#include "headrace/actors/cache/window_output.hpp"
#include "headrace/actors/rounds/rounds_output.hpp"
#include "headrace/actors/task/task_actor.hpp"

#include <utility>

namespace headrace::detail {

namespace {

/// Makes the dealer of a task's rows. The result is null if the task is to use its default dealer,
/// a `task_output`, whose readers share the rows.
std::unique_ptr<dealer> output_of(const task_order& order,
                                  const std::shared_ptr<window_store>& windows) {
  if (order.num_consumers != 0)
    return std::make_unique<rounds_output>(order.num_consumers);
  if (!order.cache)
    return nullptr;
  return std::make_unique<window_output>(
    windows, window_output::options{.terms = *order.cache, .lease = order.lease});
}

class pipeline_task final : public hosted_task {
public:
  pipeline_task(const task_order& order, dataset_ptr graph, task_surroundings surroundings,
                const std::shared_ptr<window_store>& windows, const logger& log)
    : surroundings_(std::move(surroundings)),
      memory_(std::make_shared<task_memory>(task_core{order, std::move(graph), surroundings_.limits,
                                                      log, output_of(order, windows)})) {}

  task_handle run(caf::actor_system& system, const worker_handle& parent, const tree_place& place,
                  const logger& log) override {
    return port::spawn<task_state>(system, memory_, surroundings_, parent, place, log);
  }
  uint64_t ignored() const override { return memory_->core.ignored()->load(); }
  std::vector<operator_activity> operators(time_point now) const override {
    return memory_->core.profile()->look(now);
  }
  bool torn() const override {
    std::lock_guard hold{memory_->mutex};
    return memory_->core.torn();
  }
  task_numbers made() const override {
    std::lock_guard hold{memory_->mutex};
    return memory_->core.numbers();
  }
  void leave() override {
    std::lock_guard hold{memory_->mutex};
    memory_->core.leaves_between_actors();
  }
  void name_readers(const task_readers& who) override {
    std::lock_guard hold{memory_->mutex};
    memory_->core.readers_named_between_actors(who);
  }
  void fail_streams(const status& why) override { memory_->give_up(why); }

private:
  task_surroundings surroundings_;
  std::shared_ptr<task_memory> memory_;
};

} // namespace

host_task host_tasks(task_surroundings surroundings, logger log) {
  // The cross-trainer caches of all tasks of a worker share one budget of bytes.
  auto windows = window_store::make(surroundings.cache_bytes);
  return [surroundings = std::move(surroundings), windows = std::move(windows),
          log = std::move(log)](const task_order& order, dataset_ptr graph) {
    return std::make_unique<pipeline_task>(order, std::move(graph), surroundings, windows, log);
  };
}

} // namespace headrace::detail
