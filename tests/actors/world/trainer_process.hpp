#pragma once

#include "headrace/actors/consumer/consumer_core.hpp"
#include "tests/actors/world/control.hpp"

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace headrace::detail::test {

class world;

/// A process with one trainer that runs one iteration. It has the product's consumer_core and
/// handout, and does the work of consumer_state and link_pool.
class trainer_process final : public virtual_process {
public:
  struct options {
    consumer_options reads;
    duration pause{};                     ///< between two bursts, on average
    uint64_t burst = 1;                   ///< elements taken at a time
    std::optional<uint64_t> leaves_after; ///< the trainer leaves after this number of elements
    std::optional<uint64_t> leaves_at;    ///< the trainer leaves before it reads this round
  };
  /// The history of the trainer.
  struct record {
    std::vector<int64_t> handed_out;
    std::vector<int64_t> handed_out_at; ///< the time of each element, in nanoseconds
    std::vector<uint64_t> rounds;       ///< the round of each element, with coordinated reads
    job_id job;                         ///< from the dispatcher's first answer
    /// How often the repetition had been collected before the dispatcher's first answer arrived.
    uint64_t collected = 0;
    bool late = false; ///< the repetition was finished when this trainer joined
    /// The addresses of the workers whose tasks the job named.
    std::set<std::string> named;
    /// The job has reported that the repetition is finished.
    bool job_over = false;
    iteration_losses losses; ///< from the job's last report
    std::optional<status> ended;
    std::string remark; ///< the remark, which came with the end
    std::string news;   ///< a message that came before the end
    bool began = true;  ///< false: the iteration ended before the trainer received its job's id
    bool left = false;
    bool goodbye_heard = false; ///< the job answered the goodbye of this trainer with ok
    bool killed = false;
    time_point ended_at{};
  };

  trainer_process(world& in, std::string name, options what);

  const record& history() const noexcept { return record_; }
  /// Not const, because the tests of the judge falsify it.
  record& history_for_tests() noexcept { return record_; }
  bool over() const noexcept { return record_.ended || record_.left || record_.killed; }
  consumer_id id() const noexcept { return id_; }
  const options& what() const noexcept { return options_; }
  /// The trainer leaves now, as when its iterator is destroyed.
  void leave();

  // -- called at this process by others ---------------------------------------------------

  void told(const iteration_view& news);
  void arrived(const connection_ptr& over, uint32_t channel, const from_task& what);

  /// The share of each stream in `max_outstanding`. Nullopt: the trainer has no such bound, reads a
  /// named job, or has no stream.
  std::optional<uint64_t> fair_window() const;
  /// The smallest window among those that the trainer granted to its live streams.
  std::optional<uint64_t> smallest_window() const;

private:
  struct route {
    connection_end over;
    uint32_t channel = 0;
  };
  void note(const iteration_view& news);
  void on_started() override;
  void on_killed() override;
  void take();
  bool needs_no_more() const;
  void end(const status& how);
  void make_link(const std::string& address);
  /// Carries out the commands that were left to the actor, and then `what`: the commands of an
  /// event that the actor handles.
  void carry_out(const consume::commands& what);
  /// Carries out the commands of an event that a link's thread or the trainer's thread handles.
  /// Commands that only the actor can carry out are left to the actor.
  void carry_out_beside_the_actor(const consume::commands& what);
  /// Carries out the commands that concern streams. Returns the other commands.
  consume::commands carry_out_of_streams(const consume::commands& what);
  void carry_out(const consume::ask& what);
  void carry_out(const consume::beat& what);
  void carry_out(const consume::say_goodbye& what);
  void carry_out(const consume::quit& what);
  void carry_out(const consume::renew_dispatcher& what);
  void carry_out(const consume::make_link& what);
  void carry_out(const consume::open_stream& what);
  void carry_out(const consume::send& what);
  void carry_out(const consume::close_stream& what);

  world& world_;
  options options_;
  record record_;
  consumer_id id_;
  std::shared_ptr<handout> out_;
  std::unique_ptr<consumer_core> core_;
  std::unique_ptr<control_peer> dispatcher_;
  virtual_alarm alarm_{*this};
  std::map<std::string, connection_end> links_;
  std::map<std::string, bool> making_;
  std::map<task_id, route> routes_;
  std::map<std::pair<const connection*, uint32_t>, task_id> by_channel_;
  std::map<task_id, uint64_t> windows_; ///< elements granted and not handed out
  std::vector<task_id> not_opened_;
  consume::commands unfinished_; ///< commands that were left to the actor
  bool announced_ = false;       ///< an event of the actor is scheduled
  std::optional<time_point> reminder_;
  connection_end fresh_;
  uint32_t last_channel_ = 0;
  std::shared_ptr<const block> current_;
  bool woken_ = false;
  bool looks_ = false; ///< a call of `trainer_moved` is scheduled
};

} // namespace headrace::detail::test
