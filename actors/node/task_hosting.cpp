#include "headrace/actors/node/task_hosting.hpp"

#include "headrace/actors/stream/stream_message.hpp"
#include "headrace/actors/task/task_actor.hpp"

#include <utility>

namespace headrace {

namespace {

class pipeline_task final : public hosted_task {
public:
  pipeline_task(const task_order& order, dataset_ptr graph, task_surroundings surroundings)
    : about_{order.id,
             order.life,
             order.job,
             std::move(graph),
             order.seed,
             order.repetition,
             order.policy == sharding_policy::dynamic,
             order.shared},
      surroundings_(std::move(surroundings)),
      memory_(std::make_shared<task_memory>(order.shared)) {}

  task_handle run(caf::actor_system& system, const worker_handle& parent, const tree_place& place,
                  const logger& log) override {
    return port::spawn<task_state>(system, about_, memory_, surroundings_, parent, place, log);
  }
  uint64_t ignored() const override { return memory_->ignored->load(); }
  bool torn() const override { return memory_->torn; }
  task_numbers made() const override { return memory_->told(); }
  void leave() override { memory_->leaving = true; }
  void fail_streams(const status& why) override {
    for (const auto& [who, route] : memory_->routes)
      if (route.over)
        send_failure(*route.over, route.channel, why);
  }

private:
  task_definition about_;
  task_surroundings surroundings_;
  std::shared_ptr<task_memory> memory_;
};

} // namespace

host_task host_tasks(task_surroundings surroundings) {
  return [surroundings = std::move(surroundings)](const task_order& order, dataset_ptr graph) {
    return std::make_unique<pipeline_task>(order, std::move(graph), surroundings);
  };
}

} // namespace headrace
