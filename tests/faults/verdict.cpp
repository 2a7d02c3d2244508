#include "tests/faults/verdict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace headrace::detail::test {

namespace {

class judge {
public:
  explicit judge(const told_history& what) : told_(what) {}

  std::vector<violation> all() {
    for (const auto& server : told_.servers)
      if (!server.end.empty())
        find("exit", server.name + ": " + server.end);
    for (const auto& one : told_.readings) {
      every_wait_is_bounded(one);
      every_error_is_excused(one);
      nothing_is_foreign(one.of);
    }
    for (const auto& group : groups()) {
      if (may_repeat(group))
        no_repetition_is_silent(group);
      else if (auto what =
                 find_repetition(group, told_.off ? told_.copies : 1, told_.at_least_once))
        found_.push_back(*std::move(what));
      if (told_.off)
        every_copy_is_whole(group);
      else if (told_.at_least_once)
        nothing_is_lost(group);
      else
        little_is_lost(group);
    }
    return std::move(found_);
  }

private:
  void find(std::string rule, std::string what) {
    found_.push_back({std::move(rule), std::move(what)});
  }
  std::vector<std::vector<reading>> groups() const {
    std::vector<std::vector<reading>> out;
    for (const auto& one : told_.readings) {
      if (out.empty() || !told_.shared)
        out.emplace_back();
      out.back().push_back(one.of);
    }
    return out;
  }

  void every_wait_is_bounded(const told_reading& one) {
    if (one.hung)
      find("wait",
           fmt::format("{} still waits after {} elements", one.of.name, one.of.handed_out.size()));
    else if (one.longest_wait > told_.longest_wait)
      find("wait",
           fmt::format("{} waited {:.1f} s for an element; {:.1f} s are the bound", one.of.name,
                       in_seconds(one.longest_wait), in_seconds(told_.longest_wait)));
  }

  void every_error_is_excused(const told_reading& one) {
    if (!one.of.ended || one.of.ended->ok())
      return;
    const auto& why = *one.of.ended;
    const bool usual = why.code() == status_code::unavailable || why.code() == status_code::aborted
                       || why.code() == status_code::deadline_exceeded;
    if (!usual || why.message().empty())
      find("unclear", fmt::format("{} read: {}", one.of.name, to_string(why)));
    else if (!one.may_fail)
      find("error", fmt::format("{} read: {}", one.of.name, to_string(why)));
  }

  void nothing_is_foreign(const reading& of) {
    for (auto x : of.handed_out)
      if (!std::ranges::binary_search(told_.elements, x))
        return find("foreign", fmt::format("{} was handed {}, which is no element", of.name, x));
  }

  /// True if some trainer ended with an error or did not end: then it is unknown which elements
  /// were handed out.
  static bool unknown(const std::vector<reading>& group) {
    return std::ranges::any_of(group, [](const auto& r) { return !r.ended_well(); });
  }

  void little_is_lost(const std::vector<reading>& group) {
    if (auto what = find_silent_loss(group, told_.elements.size()))
      found_.push_back(*std::move(what));
    if (unknown(group) || (told_.worker_away && !told_.single_rows))
      return;
    std::set<int64_t> given;
    for (const auto& r : group) given.insert(r.handed_out.begin(), r.handed_out.end());
    const auto lost = told_.elements.size() - std::min(given.size(), told_.elements.size());
    if (lost != 0)
      find("lost", fmt::format("{} elements are lost; nothing was lost with a worker that {}", lost,
                               told_.worker_away ? "no trainer had" : "was there"));
  }

  /// True if splits may have been read again: a worker was away, or a reader that held rows is
  /// gone.
  bool may_repeat(const std::vector<reading>& group) const {
    return told_.at_least_once
           && (told_.worker_away
               || std::ranges::any_of(group, [](const auto& r) { return r.may_be_repeated(); }));
  }
  void no_repetition_is_silent(const std::vector<reading>& group) {
    for (const auto& r : group)
      if (!r.remark.empty() || r.may_be_repeated())
        return;
    if (auto what = find_repetition(group, 1, true))
      find("silent repeat", what->what + ", and nobody was told so");
  }
  void nothing_is_lost(const std::vector<reading>& group) {
    if (std::ranges::none_of(group, [](const auto& r) { return r.ended_well(); }))
      return;
    std::set<int64_t> given;
    for (const auto& r : group) given.insert(r.handed_out.begin(), r.handed_out.end());
    if (given.size() < told_.elements.size())
      find("lost", fmt::format("{} elements are lost, though at_least_once was promised",
                               told_.elements.size() - given.size()));
  }

  void every_copy_is_whole(const std::vector<reading>& group) {
    if (unknown(group))
      return;
    std::map<int64_t, size_t> times;
    for (const auto& r : group)
      for (auto x : r.handed_out) ++times[x];
    const auto least = std::max<size_t>(told_.steady, 1);
    for (auto x : told_.elements)
      if (const auto came = times[x]; came < least)
        return find("end", fmt::format("the end came when element {} had come {} times; {} workers "
                                       "were there from beginning to end",
                                       x, came, told_.steady));
  }

  const told_history& told_;
  std::vector<violation> found_;
};

} // namespace

std::vector<violation> judge_history(const told_history& what) { return judge{what}.all(); }

} // namespace headrace::detail::test
