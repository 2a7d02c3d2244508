#include "headrace/runtime/process/process_team.hpp"

#include "headrace/runtime/base/ids.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <csignal>
#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>
#include <utility>

namespace headrace::detail {

namespace {

status reason_of(const process_end& how) {
  return how == process_end{} ? status{} : aborted(to_string(how));
}

sigset_t signals_of_a_team() {
  sigset_t out;
  ::sigemptyset(&out);
  for (int signal : {SIGCHLD, SIGTERM, SIGINT, SIGHUP}) ::sigaddset(&out, signal);
  return out;
}

int milliseconds_until(time_point then) {
  using namespace std::chrono;
  const auto left = ceil<milliseconds>(then - clock::system().now()).count();
  return static_cast<int>(std::clamp<int64_t>(left, 0, INT_MAX));
}

} // namespace

process_team::process_team(team_options options)
  : options_(std::move(options)),
    core_({.path = options_.path,
           .max_restarts = options_.max_restarts,
           .within = options_.period,
           .backoff = {.first = options_.first_pause,
                       .longest = options_.longest_pause,
                       .stable_after = options_.period},
           .seed = random_id()}) {
  const auto set = signals_of_a_team();
  ::sigprocmask(SIG_BLOCK, &set, nullptr);
  signals_ = ::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

process_team::~process_team() {
  members_.clear(); // destroying the members kills those that still run
  if (signals_ >= 0)
    ::close(signals_);
}

status process_team::add(team_member what) {
  if (find(what.id) != nullptr)
    return already_exists(fmt::format("the id '{}' is taken", what.id));
  child_spec spec{.id = what.id, .restart = what.restart, .shutdown = what.shutdown};
  auto todo = core_.add(std::move(spec), clock::system().now());
  if (!todo)
    return todo.status();
  members_.push_back({.about = std::move(what)});
  carry_out(*std::move(todo));
  return {};
}

process_team::member* process_team::find(const std::string& id) {
  const auto at = std::ranges::find(members_, id, [](const member& x) { return x.about.id; });
  return at != members_.end() ? &*at : nullptr;
}

team_end process_team::run() {
  while (!over_) wait();
  return end_;
}

// -- events ----------------------------------------------------------------------------------

void process_team::wait() {
  std::vector<pollfd> events{{signals_, POLLIN, 0}};
  std::vector<member*> readers;
  for (auto& x : members_)
    if (x.child && x.reads) {
      events.push_back({x.child->output(), POLLIN, 0});
      readers.push_back(&x);
    }
  const auto ready =
    ::poll(events.data(), events.size(), alarm_ ? milliseconds_until(alarm_->at) : -1);
  if (ready > 0) {
    for (size_t i = 0; i < readers.size(); ++i)
      if (events[i + 1].revents != 0)
        read_lines(*readers[i]);
    signalfd_siginfo info{};
    while (::read(signals_, &info, sizeof(info)) == sizeof(info))
      on_signal(static_cast<int>(info.ssi_signo));
  }
  if (alarm_ && alarm_->at <= clock::system().now()) {
    const auto due = *std::exchange(alarm_, {});
    carry_out(core_.timer(due.epoch, clock::system().now()));
  }
}

void process_team::read_lines(member& of) {
  while (of.child && of.reads) {
    auto line = of.child->read_line(duration::zero());
    if (!line) {
      of.reads = line.status().code() != status_code::out_of_range;
      return;
    }
    of.lines.push_back(*line);
    if (of.lines.size() > options_.last_lines)
      of.lines.pop_front();
    if (of.about.on_line)
      of.about.on_line(*line);
  }
}

void process_team::on_signal(int signal) {
  if (signal == SIGCHLD)
    return reap();
  if (std::exchange(told_, true)) {
    for (auto& x : members_)
      if (x.child)
        x.child->kill(SIGKILL);
    return;
  }
  for (auto& x : members_)
    if (&x != &members_.front())
      ask_to_end(x);
  carry_out(core_.stop(clock::system().now()));
}

void process_team::reap() {
  for (auto& x : members_)
    if (x.child)
      if (const auto how = x.child->wait(duration::zero()))
        ended(x, *how);
}

void process_team::ended(member& who, const process_end& how) {
  read_lines(who);
  who.child.reset();
  failed(who, how, reason_of(how));
}

void process_team::failed(member& who, const process_end& how, const status& why) {
  const bool stopped = core_.stopping();
  if (!stopped && (!why.ok() || who.about.restart == restart_policy::permanent)) {
    who.past = {who.past.restarts + 1, why.ok() ? to_string(how) : why.message()};
    if (options_.on_end)
      options_.on_end(who.about.id, how);
  }
  const auto now = clock::system().now();
  const auto as_cause = [&](status what) {
    end_ = {std::move(what), who.about.id, how, {who.lines.begin(), who.lines.end()}};
  };
  if (!stopped && who.about.is_final && who.about.is_final(how)) {
    as_cause(why.with_context(who.about.id));
    carry_out(core_.stop(now));
  }
  auto todo = core_.exited(who.about.id, who.run, why, now);
  if (!stopped && core_.stopping() && end_.why.ok())
    // This reason is provisional: when all members have ended, the core returns the full one.
    as_cause(why.ok() ? internal_error("it ended") : why);
  carry_out(std::move(todo));
}

// -- commands of the core ----------------------------------------------------------------------

void process_team::carry_out(supervise::commands what) {
  for (auto& x : what) pending_.push_back(std::move(x));
  if (busy_)
    return;
  busy_ = true;
  while (!pending_.empty()) {
    const auto next = std::move(pending_.front());
    pending_.pop_front();
    std::visit([this](const auto& x) { carry_out(x); }, next);
  }
  busy_ = false;
}

void process_team::carry_out(const supervise::start& x) {
  auto* who = find(x.id);
  if (who == nullptr)
    return;
  auto program = who->about.program(who->past);
  program.read_stdout = program.merge_stderr = true;
  program.dies_with_parent = program.own_group = true;
  who->run = x.run;
  who->asked_to_end = false;
  auto child = child_process::start(std::move(program));
  if (!child)
    return failed(*who, {127, 0}, child.status());
  who->child.emplace(*std::move(child));
  who->reads = true;
}

void process_team::ask_to_end(member& who) {
  if (who.child && !std::exchange(who.asked_to_end, true))
    who.child->kill(SIGTERM);
}

void process_team::carry_out(const supervise::stop& x) {
  if (auto* who = find(x.id); who != nullptr && who->run == x.run)
    ask_to_end(*who);
}

void process_team::carry_out(const supervise::kill& x) {
  if (auto* who = find(x.id); who != nullptr && who->run == x.run && who->child)
    who->child->kill(SIGKILL);
}

void process_team::carry_out(const supervise::schedule& x) { alarm_ = x; }

void process_team::carry_out(const supervise::stopped&) { over_ = true; }

void process_team::carry_out(const supervise::give_up& x) {
  end_.why = x.why;
  over_ = true;
}

} // namespace headrace::detail
