#include "headrace/actors/protocol/job_parameters.hpp"

#include <fmt/format.h>

#include <vector>

namespace headrace {

namespace {

std::string said(sharding_policy x) { return std::string{to_string(x)}; }
std::string said(target_workers x) { return std::string{to_string(x)}; }
std::string said(delivery_guarantee x) { return std::string{to_string(x)}; }
std::string said(bool x) { return x ? "on" : "off"; }
std::string said(uint32_t consumers) {
  return consumers == 0 ? "not fixed" : std::to_string(consumers);
}

} // namespace

status may_share(const std::string& name, const job_parameters& existing,
                 const job_parameters& asked) {
  std::string has;
  std::string wants;
  const auto compare = [&](const char* what, const auto& a, const auto& b) {
    if (a == b)
      return;
    has += fmt::format("{}{} {}", has.empty() ? "" : ", ", what, said(a));
    wants += fmt::format("{}{} {}", wants.empty() ? "" : ", ", what, said(b));
  };
  compare("processing mode", existing.mode, asked.mode);
  compare("target workers", existing.targets, asked.targets);
  compare("guarantee", existing.guarantee, asked.guarantee);
  compare("number of consumers", existing.num_consumers, asked.num_consumers);
  compare("cross-trainer cache", existing.cross_trainer_cache, asked.cross_trainer_cache);
  if (has.empty())
    return {};
  return invalid_argument(fmt::format("job '{}' exists with {}; this client asks for {}: give what "
                                      "the job has, or another job_name",
                                      name, has, wants));
}

} // namespace headrace
