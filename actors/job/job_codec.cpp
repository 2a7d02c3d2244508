#include "headrace/actors/job/job_codec.hpp"

namespace headrace {

void write_timing(schema::Timing::Builder out, const lease_timing& timing) {
  out.setHeartbeatNs(static_cast<uint64_t>(timing.heartbeat.count()));
  out.setLeaseNs(static_cast<uint64_t>(timing.lease.count()));
}

lease_timing read_timing(schema::Timing::Reader in) {
  return {duration{static_cast<int64_t>(in.getHeartbeatNs())},
          duration{static_cast<int64_t>(in.getLeaseNs())}};
}

void write_failure(schema::Failure::Builder out, const status& why) {
  out.setCode(static_cast<uint16_t>(why.code()));
  out.setText(why.message());
}

status read_failure(schema::Failure::Reader in) {
  auto code = in.getCode();
  if (code == 0 || code > static_cast<uint16_t>(status_code::unauthenticated))
    code = static_cast<uint16_t>(status_code::unknown);
  return {static_cast<status_code>(code), std::string{in.getText()}};
}

void write_iteration(schema::Iteration::Builder out, const iteration& state, job_id job,
                     bool shared, const lease_timing& timing) {
  out.setJobId(job.value);
  out.setRepetition(state.repetition());
  out.setVersion(state.version());
  out.setFinished(state.finished());
  out.setShared(shared);
  write_timing(out.initTiming(), timing);
  if (!state.failure().ok())
    write_failure(out.initFailure().initFailed(), state.failure());
  std::vector<const iteration::task*> visible;
  std::vector<task_id> lost;
  for (const auto& [id, task] : state.tasks())
    if (task.state == iteration::task_state::running)
      visible.push_back(&task);
    else if (task.state == iteration::task_state::lost)
      lost.push_back(id);
  auto tasks = out.initTasks(static_cast<unsigned>(visible.size()));
  for (unsigned i = 0; i < visible.size(); ++i) {
    tasks[i].setTaskId(visible[i]->id.value);
    tasks[i].setIncarnation(visible[i]->life.value);
    tasks[i].setDataAddress(visible[i]->worker.data_address);
    tasks[i].setBootId(visible[i]->worker.boot_id);
    tasks[i].setWorkerId(visible[i]->worker.id.value);
  }
  auto gone = out.initLost(static_cast<unsigned>(lost.size()));
  for (unsigned i = 0; i < lost.size(); ++i) gone.set(i, lost[i].value);
}

} // namespace headrace
