#include "headrace/client/command/run/run_process.hpp"

#include "headrace/client/command/run/run_notices.hpp"
#include "headrace/client/command/settings/option_values.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <unistd.h>
#include <utility>

namespace headrace::detail::command {

std::string host_name() {
  char name[256] = {};
  ::gethostname(name, sizeof(name) - 1);
  return name;
}

run_process::run_process(const run_options& of, std::string number, int signals)
  : options(of),
    process(std::move(number)),
    directory(options.directory, options.rank.name()),
    host(host_name()),
    servers(signals) {}

std::optional<std::map<int, run_progress>> run_process::records_of_ranks() const {
  return by_directory() ? std::optional{directory.progress(options.rank.size, token)}
                        : std::nullopt;
}

void run_process::note_waiting(const std::string& what) {
  constexpr duration enough = std::chrono::seconds{20};
  if (waits_noted || clock::system().now() - begin < std::min(enough, options.start_timeout / 4))
    return;
  waits_noted = true;
  say(fmt::format("it waits for {} (for {} at most: --start-timeout)", what,
                  duration_text(options.start_timeout)));
}

} // namespace headrace::detail::command
