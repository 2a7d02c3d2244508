#pragma once

#include "headrace/actors/cache/window_output.hpp"
#include "headrace/actors/consumer/consumer_core.hpp"
#include "headrace/actors/task/task_core.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace headrace::detail {

/// A block of int64 scalars `first`, `first + 1`, ...
inline block numbers(int64_t first, size_t rows) {
  std::vector<int64_t> xs(rows);
  std::iota(xs.begin(), xs.end(), first);
  block out;
  out.rows = rows;
  out.columns.push_back(column::of_scalars<int64_t>(xs));
  return out;
}

/// The tasks and consumers of one job. Their decisions are those of task_core and consumer_core.
/// They are joined by links that keep the order of their messages, can be cut or refused, and
/// deliver a message when the test calls for it. The world takes the place of the actors around the
/// cores, of the job and of the trainers, and records what happens to each element.
class stream_world {
public:
  struct options {
    size_t tasks = 1;
    bool shared = true;
    uint64_t most_elements = 0; ///< for each stream; 0: no bound
    uint64_t stream_bytes = 4096;
    /// If set: each consumer belongs to a trainer, and each trainer is given all elements.
    std::optional<cache_terms> cache = {};
    size_t cache_bytes = 0; ///< of all tasks together
    delivery_guarantee guarantee = delivery_guarantee::at_most_once;
  };
  /// The connection of a consumer to a task.
  struct pipe {
    bool linking = false;    ///< the consumer waits for a link
    bool refused = false;    ///< the link will be refused
    bool connected = false;  ///< the task's end of the link exists
    bool cut_unseen = false; ///< the link is cut, and the consumer has not noticed
    time_point cut_at{};
    produce::stream_key key;             ///< of the stream that the consumer accepts; zero: none
    std::set<produce::stream_key> known; ///< the streams that the task has opened
    std::deque<std::pair<produce::stream_key, from_consumer>> up;
    std::deque<std::pair<produce::stream_key, from_task>> down;
    /// The task counts the consumer as a reader: elements that the consumer reported are given to
    /// no other consumer.
    bool counts = false;
    uint64_t known_handed_out = 0;   ///< the number that was last reported to the task
    stream_grant granted;            ///< the last grant that the task received
    uint64_t highest_sent = 0;       ///< the number after the last element ever sent
    std::set<int64_t> sent;          ///< all elements that were ever sent
    std::set<int64_t> got;           ///< all elements that ever arrived, recalled or not
    std::vector<int64_t> handed_out; ///< the elements that the trainer was handed
  };
  struct task {
    std::unique_ptr<task_core> core;
    int64_t produced = 0;
    uint64_t run = 0;
    size_t outstanding = 0; ///< bytes that the runner has made and the task has not taken over
    bool runs = false;
    bool exhausted = false;
    bool left = false; ///< the task's worker leaves
    bool over = false;
    bool away = false; ///< the job counts the task as lost; its worker may return
    bool lost = false; ///< the task will not return
    bool room = false; ///< other windows may have made room for blocks that this task holds back
    std::deque<std::pair<time_point, task_readers>> names; ///< messages on their way to the task
    std::set<uint64_t> named;                              ///< the readers of the last message
    std::map<std::string, uint64_t> began;                 ///< by trainer: its first position
    uint64_t lost_with_readers = 0;                        ///< elements, by the task's last report
    std::deque<split_question> accounts;                   ///< the unacknowledged accounts
  };
  struct consumer {
    bool woken = false;
    std::shared_ptr<handout> out;
    std::unique_ptr<consumer_core> core;
    std::shared_ptr<const block> current;
    bool at_end = false;
    status how;
    size_t taken = 0;
    bool silent = false; ///< no messages pass between the consumer and its job
    time_point heard_at{};
    std::map<size_t, pipe> pipes; ///< by task
    std::deque<iteration_view> news;
    std::string trainer;
  };

  explicit stream_world(options o);
  stream_world(const stream_world&) = delete;
  ~stream_world() {
    for (auto& x : tasks) x.core->when_room_comes({});
  }

  static int64_t value(size_t task, int64_t index) {
    return static_cast<int64_t>(task) * 1'000'000'000 + index;
  }
  static task_id id_of(size_t task) { return task_id{task + 1}; }

  // -- tasks --------------------------------------------------------------------------------

  void produce(size_t t, size_t rows);
  void exhaust(size_t t);
  /// The task's worker leaves. The task makes no more elements, and gives its readers those that it
  /// has made.
  void leave_task(size_t t);
  /// The task's worker is lost, and the job counts the task as lost. Unless `for_good` is true, the
  /// worker may return with its state.
  void lose_task(size_t t, bool for_good);
  /// The worker of a task that the job counts as lost returns with its state.
  void find_task(size_t t);
  void crash_runner(size_t t);
  /// Adds another worker with a task of its own.
  void add_task();
  /// The task's actor crashes, and another actor takes the task over.
  void crash_task(size_t t);

  // -- consumers -----------------------------------------------------------------------------

  uint64_t come(std::string trainer = "trainer", cache_start start = cache_start::oldest);
  /// The consumer ends without a message. The job removes it when the consumer's lease expires.
  void die(uint64_t id);
  /// As `die`. If the trainer has a block, one more of its elements is first taken from the
  /// handout, and the consumer handles this, but the trainer dies before it gets the element.
  void die_in_next(uint64_t id);
  /// The consumer leaves in order: its last messages arrive over the links that exist.
  void go(uint64_t id);
  /// From now on no messages pass between the consumer and its job, and the job gives the consumer
  /// up after a lease.
  void silence(uint64_t id);

  // -- the network, the time -------------------------------------------------------------------

  /// Makes or refuses the link to the task if the consumer waits for one.
  void connect(uint64_t id, size_t t);
  void cut(uint64_t id, size_t t);
  bool deliver_up(uint64_t id, size_t t);
  /// `damaged`: the message cannot be decoded.
  bool deliver_down(uint64_t id, size_t t, bool damaged = false);
  bool deliver_news(uint64_t id);
  bool deliver_names(size_t t);
  /// Delivers the job's answer to the oldest account of the task. Returns false if there is none.
  bool acknowledge(size_t t);
  /// Delivers the consumer's oldest message to the task as one that cannot be decoded.
  void damage_up(uint64_t id, size_t t);
  void pass(duration by);
  /// Delivers all messages that are on their way, and the messages that follow from them within
  /// `for_long`. Returns the number of messages of streams. Stops when this number is `most`.
  size_t settle(size_t most = 100'000, duration for_long = std::chrono::milliseconds{20});

  // -- trainers ------------------------------------------------------------------------------

  /// The consumer's actor reads from the handout how many elements its trainer has taken.
  void look(uint64_t id);
  enum class step { element, waits, over };
  /// The trainer takes one element.
  step take(uint64_t id);
  /// Acts as a blocking `next` of a trainer while no other trainer takes elements.
  step next(uint64_t id);

  // -- books ---------------------------------------------------------------------------------

  /// True if elements that were handed out and not yet reported to the task may be given to another
  /// consumer when the first consumer is gone.
  bool unreported_again() const {
    return options_.cache || options_.guarantee == delivery_guarantee::at_least_once;
  }
  /// For each element, how often it was handed out, by present consumers and by consumers that are
  /// gone. If unreported elements may be repeated, a consumer that is gone counts only for the
  /// elements that it reported.
  std::map<int64_t, size_t> all_handed_out() const;
  /// A text about the first violation that is found: an element that was lost or repeated against
  /// the rules or that no task made, or losses that a task did not report; empty: none.
  std::string fault() const;
  void expect_each_element_once() const { EXPECT_EQ(fault(), ""); }

  options options_;
  time_point now{std::chrono::hours{1}};
  std::deque<task> tasks;
  std::map<uint64_t, consumer> consumers;
  size_t blocks_sent = 0;
  size_t recalls_sent = 0;
  size_t given_up = 0;                   ///< trainers that read that they were given up
  std::shared_ptr<window_store> windows; ///< of all tasks, if there is a cache
  /// The elements that consumers which are gone handed out, by trainer and in order. If unreported
  /// elements may be repeated, only the reported elements are included.
  std::map<std::string, std::vector<int64_t>> gone_handed_out;

private:
  void carry_out(uint64_t id, const consume::commands& what);
  void carry_out(size_t t, const produce::commands& what);
  void send_down(size_t t, const produce::send& what);
  void run(size_t t);
  void make_task();
  void note_beginnings(size_t t);
  void note_losses(size_t t, const task_report& what);
  void deliver_room(size_t t);
  void task_over(size_t t);
  /// The consumer notices that a link has ended.
  void notice(uint64_t id, size_t t);
  void answer_beat(uint64_t id, time_point at);
  iteration_view view() const;
  /// The job sends the ids of its readers to the tasks.
  void name_readers();
  void tell();
  /// Removes a consumer that is gone, and adds its elements to the records of the consumers that
  /// are gone.
  void bury(uint64_t id);

  uint64_t last_consumer_ = 0;
  uint64_t last_key_ = 0;
  std::map<produce::stream_key, uint64_t> whose_;
  uint64_t version_ = 0;
  uint64_t readers_version_ = 0;
  /// The job's readers, each with the time at which the job removes it, if that is determined.
  std::map<uint64_t, std::optional<time_point>> readers_;
  std::map<int64_t, size_t> of_the_gone_;
  std::set<int64_t> sent_to_the_gone_;
  /// All elements that consumers which are gone had received.
  std::set<int64_t> with_the_gone_;
};

} // namespace headrace::detail
