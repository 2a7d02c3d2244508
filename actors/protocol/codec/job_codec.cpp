#include "headrace/actors/protocol/codec/job_codec.hpp"

#include "headrace/pipeline/codec/vocabulary_codec.hpp"

#include <algorithm>

namespace headrace::detail {

void write_parameters(schema::JobParameters::Builder out, const job_parameters& what) {
  out.setProcessingMode(to_schema(what.mode));
  out.setTargetWorkers(to_schema(what.targets));
  out.setNumConsumers(what.num_consumers);
  if (const auto& cache = what.cross_trainer_cache) {
    out.setCrossTrainerCache(true);
    out.setCacheWaitNs(cache->wait ? static_cast<uint64_t>(cache->wait->count()) : 0);
    out.setExpectedTrainers(cache->expected_trainers);
  }
  out.setGuarantee(to_schema(what.guarantee));
}

result<job_parameters> read_parameters(schema::JobParameters::Reader in) {
  HEADRACE_ASSIGN(const auto mode, from_schema(in.getProcessingMode()));
  HEADRACE_ASSIGN(const auto targets, from_schema(in.getTargetWorkers()));
  HEADRACE_ASSIGN(const auto guarantee, from_schema(in.getGuarantee()));
  job_parameters out{mode, targets, guarantee, in.getNumConsumers()};
  if (in.getCrossTrainerCache())
    out.cross_trainer_cache = read_cache_terms(in.getCacheWaitNs(), in.getExpectedTrainers());
  return out;
}

namespace {

void write_numbers(capnp::List<uint64_t>::Builder out, const std::vector<uint64_t>& what) {
  for (unsigned i = 0; i < out.size(); ++i) out.set(i, what[i]);
}

std::vector<uint64_t> read_numbers(capnp::List<uint64_t>::Reader in) {
  std::vector<uint64_t> out;
  for (auto x : in) out.push_back(x);
  std::ranges::sort(out);
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

} // namespace

void write_past(schema::JobPast::Builder out, const job_past& what) {
  out.setBelow(what.below);
  write_numbers(out.initAlso(static_cast<unsigned>(what.also.size())), what.also);
  write_numbers(out.initFailed(static_cast<unsigned>(what.failed.size())), what.failed);
}

job_past read_past(schema::JobPast::Reader in) {
  job_past out{in.getBelow(), read_numbers(in.getAlso()), read_numbers(in.getFailed())};
  out.bound();
  return out;
}

} // namespace headrace::detail
