#include "headrace/actors/protocol/task_codec.hpp"

#include "headrace/actors/protocol/envelope_parts.hpp"
#include "headrace/actors/protocol/failure_codec.hpp"
#include "headrace/pipeline/codec/vocabulary_codec.hpp"

#include <fmt/format.h>

namespace headrace {

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
}

result<task_order> read_task_order(schema::StartTask::Reader in) {
  HEADRACE_ASSIGN(const auto policy, from_schema(in.getProcessingMode()));
  return task_order{
    .id = task_id{in.getTaskId()},
    .life = incarnation{in.getIncarnation()},
    .job = job_id{in.getJobId()},
    .repetition = in.getRepetition(),
    .policy = policy,
    .seed = in.getSeed(),
    .shared = in.getShared(),
    .fingerprint = std::string{chars_of(in.getFingerprint())},
  };
}

envelope make_stop_order(task_id which, const std::string& why) {
  return make_envelope(0, [&](schema::Envelope::Builder b) {
    auto stop = b.initWorker().initStopTask();
    stop.setTaskId(which.value);
    stop.setReason(why);
  });
}

void write_task_end(schema::TaskEnded::Builder out, const task_end& what) {
  out.setTaskId(what.id.value);
  out.setIncarnation(what.life.value);
  out.setJobId(what.job.value);
  out.setElements(what.made.elements);
  out.setBytes(what.made.bytes);
  out.setIgnored(what.made.ignored);
  if (what.outcome == task_outcome::failed)
    write_failure(out.initFailure().initFailed(), what.failure);
  if (what.outcome != task_outcome::left)
    return;
  auto all = out.initFailure().initLeft(static_cast<unsigned>(what.unread.size()));
  for (unsigned i = 0; i < all.size(); ++i) {
    const auto& [source, pass, answered, rest] = what.unread[i];
    all[i].setSource(source);
    all[i].setPass(pass);
    all[i].setAnswered(answered);
    auto range = all[i].initRest();
    range.setFirst(rest.first);
    range.setCount(rest.count);
  }
}

result<task_end> read_task_end(schema::TaskEnded::Reader in) {
  using arm = schema::TaskEnded::Failure;
  task_end out{
    .id = task_id{in.getTaskId()},
    .life = incarnation{in.getIncarnation()},
    .job = job_id{in.getJobId()},
    .made = {in.getElements(), in.getBytes(), in.getIgnored()},
  };
  const auto how = in.getFailure();
  switch (how.which()) {
  case arm::NONE: break;
  case arm::FAILED:
    out.outcome = task_outcome::failed;
    out.failure = read_failure(how.getFailed());
    break;
  case arm::LEFT:
    out.outcome = task_outcome::left;
    for (auto one : how.getLeft())
      out.unread.push_back({one.getSource(),
                            one.getPass(),
                            one.getAnswered(),
                            {one.getRest().getFirst(), one.getRest().getCount()}});
    break;
  default:
    return unimplemented(
      fmt::format("task {} ended in a way, number {}, that is not known to this build; its sender "
                  "is newer",
                  to_string(out.id), static_cast<uint16_t>(how.which())));
  }
  return out;
}

} // namespace headrace
