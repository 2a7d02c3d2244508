#include "headrace/actors/job/job_status.hpp"

#include "headrace/schemas/text.hpp"

#include <string>
#include <vector>

namespace headrace::detail {

namespace {

void write_rounds(schema::RoundsStatus::Builder out, const round_table& what, uint64_t round) {
  const auto& epoch = what.epoch();
  out.setConsumers(what.consumers());
  std::vector<uint32_t> missing;
  for (uint32_t i = 0; i < what.consumers(); ++i)
    if (!what.who_has(i))
      missing.push_back(i);
  auto indices = out.initMissing(static_cast<unsigned>(missing.size()));
  for (unsigned i = 0; i < indices.size(); ++i) indices.set(i, missing[i]);
  out.setEpoch(epoch.number);
  out.setFirstRound(epoch.first_round);
  auto tasks = out.initTasks(static_cast<unsigned>(epoch.tasks.size()));
  for (unsigned i = 0; i < tasks.size(); ++i) tasks.set(i, epoch.tasks[i].task.value);
  out.setRound(round);
}

void write_trainers(capnp::List<schema::TrainerStatus>::Builder out,
                    const std::map<consumer_id, pace_window>& paces) {
  unsigned i = 0;
  for (const auto& [id, window] : paces) {
    auto one = out[i++];
    const auto& totals = window.newest();
    const auto lately = window.of_late();
    one.setConsumerId(id.value);
    one.setName(text_of(totals.name));
    one.setHost(text_of(totals.host));
    one.setWaited(static_cast<float>(lately.waited));
    one.setElementsPerSecond(lately.elements_per_second);
    one.setBytesPerSecond(lately.bytes_per_second);
    one.setElements(totals.elements);
  }
}

} // namespace

void write_job_status(schema::JobStatus::Builder out, const job_description& about,
                      const job_record& record, uint64_t round,
                      const std::map<consumer_id, pace_window>& paces) {
  out.setJobId(about.id.value);
  out.setName(text_of(about.name));
  out.setDatasetId(text_of(about.dataset_id));
  out.setProcessingMode(std::string{to_string(about.policy)});
  out.setGuarantee(std::string{to_string(about.guarantee)});
  const auto& all = record.repetitions();
  if (all.empty())
    return;
  const auto& newest = all.rbegin()->second.state;
  if (!newest.failure().ok())
    out.setFailure(text_of(to_string(newest.failure())));
  out.setRepetition(newest.repetition());
  out.setConsumers(static_cast<uint32_t>(newest.consumers().size()));
  out.setState(!newest.failure().ok() ? "failed" : newest.finished() ? "finished" : "running");
  const auto losses = record.losses_of(all.rbegin()->second);
  out.setLostTasks(losses.tasks);
  out.setLostSplits(losses.splits);
  out.setRereadSplits(losses.reread);
  out.setLostElements(losses.elements);
  out.setRepeatedSplits(losses.repeated);
  auto tasks = out.initTasks(static_cast<unsigned>(newest.tasks().size()));
  unsigned i = 0;
  for (const auto& [id, task] : newest.tasks()) {
    auto one = tasks[i++];
    one.setTaskId(id.value);
    one.setWorkerId(task.worker.id.value);
    one.setElements(task.made.elements);
    one.setBytes(task.made.bytes);
    one.setIgnored(task.made.ignored);
    one.setState(std::string{to_string(task.state)});
  }
  write_trainers(out.initTrainers(static_cast<unsigned>(paces.size())), paces);
  if (about.num_consumers != 0)
    write_rounds(out.initRounds(), newest.rounds(), round);
}

} // namespace headrace::detail
