#pragma once

#include "headrace/actors/worker/worker_command.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <variant>
#include <vector>

namespace headrace::detail::test {

/// The commands of a worker's core as short texts, e.g. `answer 1 ok` and `ask 7 #2`.
class command_text {
public:
  static std::string of(const worker::command& x) { return std::visit(command_text{}, x); }
  static std::vector<std::string> of(const worker::commands& all) {
    std::vector<std::string> out;
    for (const auto& x : all) out.push_back(of(x));
    return out;
  }

  std::string operator()(const log_line& x) const {
    return fmt::format("log {} {}", to_string(x.level), x.text);
  }
  std::string operator()(const worker::answer& x) const {
    return fmt::format("answer {} {}", x.to.value, to_string(x.how));
  }
  std::string operator()(const worker::register_here& x) const {
    std::string out =
      fmt::format("register {}{}", x.who.info.id.value, x.who.info.draining ? " leaving" : "");
    for (const auto& task : x.who.tasks)
      out += fmt::format(" {}/{}", task.id.value, task.job.value);
    return out;
  }
  std::string operator()(const worker::heartbeat& x) const {
    std::string out =
      fmt::format("beat {}{}{}", x.id.value, x.first ? " first" : "", x.leaving ? " leaving" : "");
    for (const auto& task : x.tasks)
      out += fmt::format(" {}:{}", task.id.value, task.counts.made.elements);
    return out;
  }
  std::string operator()(const worker::ask_splits& x) const {
    const auto& which = x.what.wish.which;
    const auto& closes = x.what.wish.closes;
    auto out = fmt::format("ask {} #{} {},{},{}", x.task.value, x.ask, which.source, which.pass,
                           which.number);
    if (closes)
      out += fmt::format(" closes {}+{}", closes->rest.first, closes->rest.count);
    return out;
  }
  std::string operator()(const worker::say_end& x) const {
    static constexpr const char* outcomes[] = {"exhausted", "left", "failed", "stopped"};
    std::string out =
      fmt::format("end {} {} {}", x.what.id.value, outcomes[static_cast<size_t>(x.what.outcome)],
                  x.what.made.elements);
    if (!x.what.failure.ok())
      out += " " + x.what.failure.message();
    for (const auto& rest : x.what.unread)
      out += fmt::format(" unread {}+{}", rest.rest.first, rest.rest.count);
    for (const auto& rest : x.what.closed)
      out += fmt::format(" closed {}+{}", rest.rest.first, rest.rest.count);
    if (x.what.by_itself)
      out += " by itself";
    return out;
  }
  std::string operator()(const worker::say_goodbye& x) const {
    return x.unfinished == 0 ? fmt::format("goodbye {}", x.id.value)
                             : fmt::format("goodbye {} unfinished {}", x.id.value, x.unfinished);
  }
  std::string operator()(const worker::renew_dispatcher& x) const {
    return fmt::format("renew {}", to_string(x.why));
  }
  std::string operator()(const worker::run_task& x) const {
    return fmt::format("run {} of {}", x.what.id.value, x.order.value);
  }
  std::string operator()(const worker::stop_task& x) const {
    return fmt::format("stop {}: {}", x.task.value, x.reason);
  }
  std::string operator()(const worker::name_readers& x) const {
    return fmt::format("readers of {}: {} of version {}", x.who.task.value, x.who.consumers.size(),
                       x.who.version);
  }
  std::string operator()(const worker::drop_task& x) const {
    return fmt::format("drop {}", x.task.value);
  }
  std::string operator()(const worker::give_splits& x) const {
    std::string what = !x.what ? to_string(x.what.status())
                       : !x.what->first
                         ? "over"
                         : fmt::format("{}+{}", x.what->first->first, x.what->first->count);
    return fmt::format("give {} {},{},{} {}", x.task.value, x.question.source, x.question.pass,
                       x.question.number, what);
  }
  std::string operator()(const worker::tell_leaving& x) const {
    return fmt::format("leaving {}", x.task.value);
  }
  std::string operator()(const worker::fail_streams& x) const {
    return fmt::format("fail {} {}", x.task.value, to_string(x.why));
  }
  std::string operator()(const worker::close_streams& x) const {
    return fmt::format("close {}", x.task.value);
  }
  std::string operator()(const worker::count_stuck& x) const {
    return fmt::format("count stuck {} s", x.patience / std::chrono::seconds{1});
  }
  std::string operator()(const worker::report_stuck& x) const {
    return fmt::format("stuck {}", to_string(x.why.code()));
  }
  std::string operator()(const worker::report_other_version& x) const {
    return fmt::format("other version {}", x.why.message());
  }
  std::string operator()(const worker::report_no_dispatcher& x) const {
    return fmt::format("no dispatcher: {}", x.why.message());
  }
  std::string operator()(const worker::report_not_listed& x) const {
    return fmt::format("not listed {}", x.why.message());
  }
  std::string operator()(const worker::left& x) const {
    return x.ordered ? "left as ordered" : "left";
  }
  std::string operator()(const worker::ask_save_steps& x) const {
    return fmt::format("ask for steps{}, {} running, {} reports", x.what.takes ? "" : " of none",
                       x.what.running.size(), x.what.reports.size());
  }
  std::string operator()(const worker::run_save& x) const {
    return fmt::format("run step {} of save {}", x.what.number, to_string(x.what.what.id));
  }
  std::string operator()(const worker::stop_save& x) const {
    return fmt::format("stop save {}", to_string(x.id));
  }
};

} // namespace headrace::detail::test
