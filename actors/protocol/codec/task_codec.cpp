#include "headrace/actors/protocol/codec/task_codec.hpp"

#include "headrace/actors/protocol/codec/job_codec.hpp"
#include "headrace/actors/protocol/codec/splits_codec.hpp"
#include "headrace/pipeline/codec/vocabulary_codec.hpp"
#include "headrace/schemas/failure_codec.hpp"
#include "headrace/schemas/text.hpp"

#include <fmt/format.h>

namespace headrace::detail {

void write_task_order(schema::StartTask::Builder out, const task_order& what, const buffer& graph) {
  out.setTaskId(what.id.value);
  out.setIncarnation(what.life.value);
  out.setJobId(what.job.value);
  out.setRepetition(what.repetition);
  out.setProcessingMode(to_schema(what.policy));
  if (!graph.empty())
    out.setGraph(data_of(graph));
  out.setFingerprint(data_of(what.fingerprint));
  out.setSeed(what.seed);
  out.setShared(what.shared);
  write_task_readers(out.initReaders(), what.readers);
  out.setLeaseNs(static_cast<uint64_t>(what.lease.count()));
  out.setEager(what.eager);
  out.setShards(what.shards);
  out.setShard(what.shard);
  out.setGuarantee(to_schema(what.guarantee));
  if (const auto& cache = what.cache) {
    out.setCrossTrainerCache(true);
    out.setCacheWaitNs(cache->wait ? static_cast<uint64_t>(cache->wait->count()) : 0);
    out.setExpectedTrainers(cache->expected_trainers);
  }
  out.setNumConsumers(what.num_consumers);
  out.setResumes(what.resumes);
}

result<task_order> read_task_order(schema::StartTask::Reader in) {
  HEADRACE_ASSIGN(const auto policy, from_schema(in.getProcessingMode()));
  HEADRACE_ASSIGN(const auto guarantee, from_schema(in.getGuarantee()));
  return task_order{
    .id = task_id{in.getTaskId()},
    .life = incarnation{in.getIncarnation()},
    .job = job_id{in.getJobId()},
    .repetition = in.getRepetition(),
    .policy = policy,
    .seed = in.getSeed(),
    .shared = in.getShared(),
    .fingerprint = std::string{chars_of(in.getFingerprint())},
    .readers = read_task_readers(in.getReaders()),
    .lease = duration{static_cast<int64_t>(in.getLeaseNs())},
    .eager = in.getEager(),
    .shards = in.getShards(),
    .shard = in.getShard(),
    .guarantee = guarantee,
    .cache = in.getCrossTrainerCache()
               ? std::optional{read_cache_terms(in.getCacheWaitNs(), in.getExpectedTrainers())}
               : std::nullopt,
    .num_consumers = in.getNumConsumers(),
    .resumes = in.getResumes(),
  };
}

envelope make_stop_order(task_id which, const std::string& why) {
  return make_envelope(0, [&](schema::Envelope::Builder b) {
    auto stop = b.initWorker().initStopTask();
    stop.setTaskId(which.value);
    stop.setReason(text_of(why));
  });
}

void write_task_readers(schema::TaskReaders::Builder out, const task_readers& what) {
  out.setTaskId(what.task.value);
  out.setVersion(what.version);
  auto all = out.initConsumers(static_cast<unsigned>(what.consumers.size()));
  for (unsigned i = 0; i < all.size(); ++i) all.set(i, what.consumers[i].value);
  auto departed = out.initDeparted(static_cast<unsigned>(what.departed.size()));
  unsigned next = 0;
  for (const auto& [who, mark] : what.departed) {
    auto one = departed[next++];
    one.setConsumerId(who.value);
    one.setTaskId(what.task.value);
    one.setHandedOut(mark);
  }
  if (what.nodes.empty())
    return;
  auto nodes = out.initNodes(all.size());
  for (unsigned i = 0; i < all.size(); ++i)
    if (const auto at = what.nodes.find(what.consumers[i]); at != what.nodes.end())
      nodes.set(i, at->second);
}

task_readers read_task_readers(schema::TaskReaders::Reader in) {
  task_readers out{task_id{in.getTaskId()}, in.getVersion(), {}};
  for (auto id : in.getConsumers()) out.consumers.emplace_back(id);
  for (auto one : in.getDeparted())
    out.departed[consumer_id{one.getConsumerId()}] = one.getHandedOut();
  const auto nodes = in.getNodes();
  for (unsigned i = 0; i < nodes.size() && i < out.consumers.size(); ++i)
    if (nodes[i] != 0)
      out.nodes[out.consumers[i]] = nodes[i];
  return out;
}

schema::TaskOutcome to_schema(task_outcome x) {
  switch (x) {
  case task_outcome::exhausted: return schema::TaskOutcome::EXHAUSTED;
  case task_outcome::left: return schema::TaskOutcome::LEFT;
  case task_outcome::failed: return schema::TaskOutcome::FAILED;
  case task_outcome::stopped: return schema::TaskOutcome::STOPPED;
  }
  return static_cast<schema::TaskOutcome>(UINT16_MAX);
}

result<task_outcome> from_schema(schema::TaskOutcome x) {
  switch (x) {
  case schema::TaskOutcome::EXHAUSTED: return task_outcome::exhausted;
  case schema::TaskOutcome::LEFT: return task_outcome::left;
  case schema::TaskOutcome::FAILED: return task_outcome::failed;
  case schema::TaskOutcome::STOPPED: return task_outcome::stopped;
  }
  return unimplemented(
    fmt::format("task outcome number {} is not known to this build; its sender is newer",
                static_cast<uint16_t>(x)));
}

void write_task_end(schema::TaskEnded::Builder out, const task_end& what) {
  out.setTaskId(what.id.value);
  out.setIncarnation(what.life.value);
  out.setJobId(what.job.value);
  out.setElements(what.made.elements);
  out.setBytes(what.made.bytes);
  out.setIgnored(what.made.ignored);
  out.setOutcome(to_schema(what.outcome));
  if (what.outcome == task_outcome::failed)
    write_failure(out.initFailure(), what.failure);
  const auto write_all = [](auto all, const std::vector<unread_splits>& from) {
    for (unsigned i = 0; i < all.size(); ++i) write_unread_splits(all[i], from[i]);
  };
  write_all(out.initLeft(static_cast<unsigned>(what.unread.size())), what.unread);
  out.setByItself(what.by_itself);
  write_all(out.initClosed(static_cast<unsigned>(what.closed.size())), what.closed);
  auto held = out.initHeld(static_cast<unsigned>(what.held.size()));
  unsigned next = 0;
  for (const auto& [who, marks] : what.held) {
    auto one = held[next++];
    one.setConsumerId(who.value);
    one.setTaskId(what.id.value);
    one.setReceived(marks.received);
    one.setHandedOut(marks.handed_out);
  }
}

result<task_end> read_task_end(schema::TaskEnded::Reader in) {
  HEADRACE_ASSIGN(const auto outcome, from_schema(in.getOutcome()));
  task_end out{
    .id = task_id{in.getTaskId()},
    .life = incarnation{in.getIncarnation()},
    .job = job_id{in.getJobId()},
    .made = {in.getElements(), in.getBytes(), in.getIgnored()},
    .outcome = outcome,
  };
  if (outcome == task_outcome::failed)
    out.failure = read_failure(in.getFailure());
  for (auto one : in.getLeft()) out.unread.push_back(read_unread_splits(one));
  out.by_itself = in.getByItself();
  for (auto one : in.getClosed()) out.closed.push_back(read_unread_splits(one));
  for (auto one : in.getHeld())
    out.held[consumer_id{one.getConsumerId()}] = {one.getReceived(), one.getHandedOut()};
  return out;
}

} // namespace headrace::detail
