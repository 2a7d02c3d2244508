#include "headrace/actors/protocol/job_parameters.hpp"

#include "headrace/pipeline/types/coordinated_reads.hpp"

#include <fmt/format.h>

#include <vector>

namespace headrace::detail {

namespace {

std::string said(sharding_policy x) { return std::string{to_string(x)}; }
std::string said(target_workers x) { return std::string{to_string(x)}; }
std::string said(delivery_guarantee x) { return std::string{to_string(x)}; }
std::string said(const std::optional<cache_terms>& x) {
  if (!x)
    return "off";
  std::string out = "on";
  if (x->wait)
    out += fmt::format(", on_lag wait {:g} s", in_seconds(*x->wait));
  if (x->expected_trainers != 0)
    out += fmt::format(", expected_trainers {}", x->expected_trainers);
  return out;
}
std::string said(uint32_t consumers) {
  return consumers == 0 ? "not fixed" : std::to_string(consumers);
}

} // namespace

status check_job_name(const std::string& name) {
  if (name.size() <= longest_job_name)
    return {};
  return invalid_argument(
    fmt::format("job_name has {} bytes; it may have up to {}", name.size(), longest_job_name));
}

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

status can_coordinate(const job_parameters& asked, const rounds_request& about) {
  const auto n = asked.num_consumers;
  if (n == 0)
    return {};
  const auto refused = [](const std::string& why) {
    return invalid_argument("coordinated reads (consumer_index, num_consumers): " + why);
  };
  if (n > most_consumers)
    return refused(fmt::format("num_consumers is {}; it may be up to {}", n, most_consumers));
  if (about.index >= n)
    return refused(fmt::format("consumer_index is {}; with {} consumers it must be 0 to {}",
                               about.index, n, n - 1));
  if (!about.named)
    return refused("they need a job_name, by which the consumers find each other");
  if (asked.cross_trainer_cache)
    return refused("they cannot be had together with cross_trainer_cache: here each consumer gets "
                   "elements of its own");
  if (asked.targets == target_workers::local)
    return refused("in each round all consumers read from one worker, so that target_workers "
                   "cannot be LOCAL");
  if (asked.guarantee == delivery_guarantee::at_least_once)
    return refused("they cannot be had with guarantee at_least_once: rounds that the consumers "
                   "have stepped past are not given again");
  if (about.finite)
    return refused("they need an infinite dataset (`repeat()` without a count), so that all "
                   "consumers find an element in each round");
  return {};
}

status can_cache(const job_parameters& asked, const cache_request& about) {
  if (!asked.cross_trainer_cache)
    return {};
  const auto& terms = *asked.cross_trainer_cache;
  const auto refused = [](const std::string& why) {
    return invalid_argument("cross_trainer_cache: " + why);
  };
  if (!about.named)
    return refused("it needs a job_name, by which the trainers find each other");
  if (asked.num_consumers != 0)
    return refused("it cannot be had together with coordinated reads (consumer_index, "
                   "num_consumers): there each trainer gets elements of its own");
  if (asked.guarantee == delivery_guarantee::at_least_once)
    return refused("it cannot be had with guarantee at_least_once: what one trainer was given "
                   "shows nothing about the others, so that no split can be read again for those "
                   "that lack it");
  if (terms.wait && *terms.wait <= duration::zero())
    return refused("the time to wait for a trainer that falls behind must be more than 0");
  if (terms.expected_trainers != 0 && !terms.wait)
    return refused("expected_trainers promises all elements to each trainer, so that it needs "
                   "on_lag \"wait\"");
  if (terms.expected_trainers != 0)
    return {};
  if (!about.infinite)
    return refused("it needs an infinite dataset (`repeat()` without a count), as a trainer may "
                   "come after elements are gone; or expected_trainers, with on_lag \"wait\", so "
                   "that all trainers get the whole of a finite one");
  if (about.repetition != 0)
    return refused("a dataset with it is iterated once, as an infinite dataset has one repetition; "
                   "make the dataset again to read on");
  return {};
}

} // namespace headrace::detail
