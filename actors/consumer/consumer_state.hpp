#pragma once

#include "headrace/actors/consumer/consumer_core.hpp"
#include "headrace/actors/consumer/link_pool.hpp"
#include "headrace/actors/messages.hpp"
#include "headrace/runtime/caf/alarm.hpp"
#include "headrace/runtime/node/peer.hpp"

#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace headrace::detail {

/// The actor of one consumer: turns messages of the dispatcher, the job, tasks and the trainer into
/// events for its core, and carries out the core's commands. The trainer's thread takes rows from
/// the handout.
class consumer_state {
public:
  using handle_type = consumer_handle;
  static inline const char* name = "headrace.consumer";

  consumer_state(port::self_pointer<handle_type> self, consumer_options options, address dispatcher,
                 connector_actor connector, std::shared_ptr<link_pool> links,
                 std::shared_ptr<handout> out, logger log);
  ~consumer_state();
  port::behavior<handle_type> make_behavior();

private:
  /// The link and the channel of a task's stream.
  struct route {
    std::shared_ptr<link> over;
    uint32_t channel = 0;
  };

  void on(const link_made& what);
  void on(const block_arrived& what);
  void on(const link_lost& what);
  void on(const trainer_moved& what);
  void on(const trainer_leaves& what);

  void carry_out(const consume::commands& what);
  void carry_out(const consume::ask& what);
  void carry_out(const consume::beat& what);
  void carry_out(const consume::say_goodbye& what);
  void carry_out(const consume::quit& what);
  void carry_out(const consume::renew_dispatcher& what);
  void carry_out(const consume::make_link& what);
  void carry_out(const consume::open_stream& what);
  void carry_out(const consume::send& what);
  void carry_out(const consume::close_stream& what);
  time_point now() const { return self_->clock().now(); }

  port::self_pointer<handle_type> self_;
  std::vector<tensor_spec> components_; ///< the components of the elements
  duration answer_limit_;               ///< the limit for answers to `consume::ask`
  std::shared_ptr<link_pool> links_;
  uint64_t bad_messages_ = 0; ///< number of damaged messages that arrived
  consumer_core core_;
  port::alarm alarm_;
  bool left_ = false;
  std::map<task_id, route> routes_;
  std::map<std::pair<const link*, uint32_t>, task_id> by_channel_;
  std::shared_ptr<link> fresh_;     ///< set while the core handles the event of this new link
  std::vector<task_id> not_opened_; ///< streams on a link that was closed already
  port::watcher watcher_;
  peer dispatcher_;
};

} // namespace headrace::detail
