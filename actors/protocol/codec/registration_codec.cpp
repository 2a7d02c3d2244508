#include "headrace/actors/protocol/codec/registration_codec.hpp"

#include "headrace/actors/protocol/codec/timing_codec.hpp"
#include "headrace/schemas/text.hpp"

namespace headrace::detail {

void write_registration(schema::RegisterWorker::Builder out, const worker_registration& who) {
  out.setWorkerId(who.info.id.value);
  out.setIncarnation(who.info.life.value);
  out.setDataAddress(text_of(who.info.data_address));
  out.setBootId(text_of(who.info.boot_id));
  out.setPid(who.info.pid);
  out.setLeaving(who.info.draining);
  out.setPlace(who.info.place);
  auto tags = out.initTags(static_cast<unsigned>(who.info.tags.size()));
  for (unsigned i = 0; i < tags.size(); ++i) tags.set(i, text_of(who.info.tags[i]));
  auto tasks = out.initTasks(static_cast<unsigned>(who.tasks.size()));
  for (unsigned i = 0; i < tasks.size(); ++i) {
    tasks[i].setTaskId(who.tasks[i].id.value);
    tasks[i].setJobId(who.tasks[i].job.value);
  }
}

worker_registration read_registration(schema::RegisterWorker::Reader in) {
  worker_registration out{{worker_id{in.getWorkerId()},
                           incarnation{in.getIncarnation()},
                           string_of(in.getDataAddress()),
                           string_of(in.getBootId()),
                           {},
                           in.getPid()},
                          {}};
  out.info.draining = in.getLeaving();
  out.info.place = in.getPlace();
  for (auto tag : in.getTags()) out.info.tags.emplace_back(text_of(tag));
  for (auto task : in.getTasks())
    out.tasks.push_back({task_id{task.getTaskId()}, job_id{task.getJobId()}});
  return out;
}

void write_registered(schema::WorkerRegistered::Builder out, const worker_registered& what) {
  out.setWorkerId(what.id.value);
  out.setLeave(what.leave);
  write_timing(out.initTiming(), what.timing);
}

result<worker_registered> read_registered(schema::WorkerRegistered::Reader in) {
  HEADRACE_ASSIGN(const auto timing, read_timing(in.getTiming()));
  return worker_registered{worker_id{in.getWorkerId()}, timing, in.getLeave()};
}

} // namespace headrace::detail
