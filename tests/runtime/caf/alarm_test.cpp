#include "headrace/runtime/caf/alarm.hpp"
#include "tests/support/actor_fixture.hpp"

#include <memory>
#include <vector>

namespace headrace::detail::test {
namespace {

using namespace std::chrono_literals;

/// The deadline of an actor, the times at which its alarm was due, and the number of reminders that
/// it received.
struct alarm_script {
  std::optional<time_point> deadline;
  std::vector<time_point> due;
  size_t reminders = 0;
};

/// An actor that sets its alarm to the deadline of its script when it receives an envelope, and
/// checks the deadline when the alarm is due.
class alarmed_state {
public:
  using handle_type =
    port::handle<caf::result<void>(envelope), caf::result<void>(atom::supervise, uint64_t)>;
  static inline const char* name = "headrace.test.alarmed";
  alarmed_state(port::self_pointer<handle_type> self, std::shared_ptr<alarm_script> what)
    : self_(self), what_(std::move(what)) {}
  port::behavior<handle_type> make_behavior() {
    return {
      [this](const envelope&) { alarm_.set(self_, atom::supervise_v, what_->deadline); },
      [this](atom::supervise, uint64_t epoch) {
        ++what_->reminders;
        if (!alarm_.due(epoch))
          return;
        const auto now = self_->clock().now();
        what_->due.push_back(now);
        if (what_->deadline && *what_->deadline <= now)
          what_->deadline.reset();
        alarm_.set(self_, atom::supervise_v, what_->deadline);
      },
    };
  }

private:
  port::self_pointer<handle_type> self_;
  std::shared_ptr<alarm_script> what_;
  port::alarm alarm_;
};

class Alarm : public testing::Test {
protected:
  ~Alarm() override {
    if (actor)
      node.end(actor);
  }
  void set(std::optional<time_point> deadline) {
    script->deadline = deadline;
    port::tell(actor, make_ok());
    node.dispatch();
  }

  actor_node node;
  std::shared_ptr<alarm_script> script = std::make_shared<alarm_script>();
  alarmed_state::handle_type actor = port::spawn<alarmed_state>(node.system, script);
  time_point start = node.now();
};

TEST_F(Alarm, ComesAtTheDeadline) {
  set(start + 3s);
  node.advance(2s);
  EXPECT_TRUE(script->due.empty());
  node.advance(5s);
  EXPECT_EQ(script->due, (std::vector{start + 3s}));
}

TEST_F(Alarm, SendsOneReminderHoweverOftenItIsSet) {
  for (int i = 0; i < 5; ++i) set(start + 3s);
  node.advance(10s);
  EXPECT_EQ(script->reminders, 1u);
}

TEST_F(Alarm, ComesEarlierWhenTheDeadlineDoesAndIgnoresTheOlderReminder) {
  set(start + 3s);
  set(start + 1s);
  node.advance(10s);
  EXPECT_EQ(script->due, (std::vector{start + 1s}));
  EXPECT_EQ(script->reminders, 2u);
}

TEST_F(Alarm, GoesOnToADeadlineThatMovedToALaterTime) {
  set(start + 1s);
  set(start + 3s);
  node.advance(10s);
  EXPECT_EQ(script->due, (std::vector{start + 1s, start + 3s}));
}

TEST_F(Alarm, ComesAtOnceForADeadlineThatIsOver) {
  node.advance(5s);
  set(start + 1s);
  node.advance(0s);
  EXPECT_EQ(script->due, (std::vector{start + 5s}));
}

TEST_F(Alarm, KeepsAnActorThatHasEndedForALimitedTime) {
  set(start + 600s);
  const auto kept = caf::actor_cast<caf::weak_actor_ptr>(actor);
  node.end(actor);
  actor = alarmed_state::handle_type{};
  EXPECT_NE(kept.lock(), nullptr) << "its reminder is pending";
  node.advance(port::alarm::longest);
  EXPECT_EQ(kept.lock(), nullptr);
}

TEST_F(Alarm, ComesEarlyForADeadlineThatIsFarAway) {
  set(start + 70s);
  node.advance(100s);
  EXPECT_EQ(script->due, (std::vector{start + 30s, start + 60s, start + 70s}));
}

TEST_F(Alarm, IsSilentWithoutADeadline) {
  set(std::nullopt);
  node.advance(10s);
  EXPECT_EQ(script->reminders, 0u);
}

} // namespace
} // namespace headrace::detail::test
