#include "headrace/client/command/status/top_text.hpp"

#include "headrace/client/command/status/status_text.hpp"
#include "headrace/client/internal/verdict.hpp"
#include "headrace/runtime/log/line.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>

namespace headrace::detail::command {
namespace {

/// One of the shares of an operator's time: its letter in a bar, its color on a terminal (an ANSI
/// code), and its text in the legend.
struct kind {
  double operator_status::*share;
  char letter;
  const char* color;
  const char* text;
};
constexpr std::array kinds{
  kind{&operator_status::busy, '#', "31", "computes"},
  kind{&operator_status::queued, 'q', "91", "waits for a thread"},
  kind{&operator_status::storage, 'f', "33", "waits for files"},
  kind{&operator_status::lease, 'l', "35", "waits for splits"},
  kind{&operator_status::memory, 'm', "34", "may hold no more in memory"},
  kind{&operator_status::input, '.', "37", "waits for its input"},
};
constexpr size_t bar_width = 30;

std::string shown(std::string_view x) {
  std::string out;
  append_text(out, x);
  return out;
}

/// A bar of `bar_width` columns for an operator's time. Empty columns stand for the time in which
/// no rows were requested from the operator.
std::string bar(const operator_status& x, bool color) {
  std::string out;
  size_t used = 0;
  double sum = 0;
  for (const auto& one : kinds) {
    sum += x.*one.share;
    const auto until = std::min(static_cast<size_t>(std::lround(sum * bar_width)), bar_width);
    if (until <= used)
      continue;
    const std::string part(until - used, one.letter);
    out += color ? fmt::format("\x1b[{}m{}\x1b[0m", one.color, part) : part;
    used = until;
  }
  return out + std::string(bar_width - used, ' ');
}

std::string legend(bool color) {
  std::string out = " ";
  for (const auto& one : kinds)
    out += color ? fmt::format(" \x1b[{}m{}\x1b[0m {}", one.color, one.letter, one.text)
                 : fmt::format(" {} {}", one.letter, one.text);
  return out;
}

/// The size in bytes of the longest beginning of `text` that has at most `width` bytes and does not
/// end inside of a UTF-8 character.
size_t whole_characters(std::string_view text, size_t width) {
  auto end = std::min(width, text.size());
  while (end != 0 && end < text.size() && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80)
    --end;
  return end;
}

std::string cut(std::string text, size_t width) {
  text.resize(whole_characters(text, width));
  return text;
}

/// Lines of at most `width` columns, broken at spaces where there are any; all but the first are
/// indented.
std::string folded(std::string_view text, size_t width) {
  std::string out, indent;
  while (!text.empty()) {
    const auto room = width - indent.size();
    auto end = text.size();
    if (end > room) {
      const auto space = text.rfind(' ', room);
      end = space == std::string_view::npos || space == 0
              ? std::max<size_t>(whole_characters(text, room), 1)
              : space;
    }
    out += indent + std::string{text.substr(0, end)} + "\n";
    text.remove_prefix(end);
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
    indent = "    ";
  }
  return out;
}

std::string of_job(const job_status& job, const service_status& in, size_t width, bool color) {
  const auto now = verdict_of(job, in);
  const auto name = job.name.empty() ? fmt::format("job {:x}", job.job) : shown(job.name);
  auto out = "\n" + folded(fmt::format("{}: {}", name, shown(now.text)), width);
  for (const auto& x : job.trainers)
    out += cut(fmt::format("  trainer {:<24} waited {:>4}  {:>9} elements/s  {}",
                           x.name.empty() ? fmt::format("{:x}", x.consumer) : shown(x.name),
                           x.waited < 0 ? "-" : fmt::format("{:.0f}%", 100 * x.waited),
                           short_number(x.elements_per_second), shown(x.host)),
               width)
           + "\n";
  const auto operators = operators_of(job);
  const auto names = std::max<size_t>(width, bar_width + 30) - bar_width - 16;
  for (size_t i = 0; i < operators.size(); ++i) {
    const auto& x = operators[i];
    const bool blamed = now.place == i;
    const auto left = cut(std::string(2 * x.depth, ' ') + shown(x.name), names);
    out += fmt::format("{} {:<{}}[{}]{:>9}/s\n", blamed ? '>' : ' ', left, names, bar(x, color),
                       short_number(x.rows_per_second));
  }
  if (!operators.empty())
    out += legend(color) + "\n";
  for (const auto& x : job.tasks)
    if (x.state == "running") {
      const auto at = std::ranges::find(in.workers, x.worker, &worker_status::worker);
      out +=
        cut(fmt::format("  worker {:<24} {:>9} elements/s  {} streams",
                        at == in.workers.end() ? fmt::format("{:x}", x.worker) : shown(at->address),
                        short_number(x.elements_per_second), x.streams),
            width)
        + "\n";
    }
  return out;
}

} // namespace

std::string top_text(const service_status& x, size_t width, bool color) {
  width = std::max<size_t>(width, 40);
  const auto alive = std::ranges::count_if(x.workers, &worker_status::alive);
  const auto running = std::ranges::count(x.jobs, "running", &job_status::state);
  auto out = cut(fmt::format("headrace: up {:.0f} s, {} workers, {} running jobs",
                             in_seconds(x.uptime), alive, running),
                 width)
             + "\n";
  if (!x.disk_trouble.empty())
    out += cut("nothing new is begun: " + shown(x.disk_trouble), width) + "\n";
  if (running == 0)
    out += "no job runs\n";
  for (const auto& job : x.jobs)
    if (job.state == "running")
      out += of_job(job, x, width, color);
  return out;
}

} // namespace headrace::detail::command
