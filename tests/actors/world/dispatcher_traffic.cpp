#include "tests/actors/world/dispatcher_traffic.hpp"

#include "headrace/actors/protocol/codec/drain_codec.hpp"
#include "headrace/actors/protocol/codec/reader_codec.hpp"
#include "headrace/actors/protocol/codec/registration_codec.hpp"
#include "headrace/actors/protocol/codec/splits_codec.hpp"
#include "headrace/actors/protocol/codec/task_codec.hpp"
#include "headrace/actors/worker/heartbeat_codec.hpp"

namespace headrace::detail::test {

using builder = schema::Envelope::Builder;

void dispatcher_traffic::count(const open_iteration& what) {
  add("open iteration",
      [&](builder b) { write_open_iteration(b.initDispatcher().initOpenIteration(), what); });
}

void dispatcher_traffic::count(const reader_heartbeat& what) {
  add("consumer heartbeat",
      [&](builder b) { write_heartbeat(b.initDispatcher().initConsumerHeartbeat(), what); });
}

void dispatcher_traffic::count(const leave_iteration& what) {
  add("leave iteration",
      [&](builder b) { write_leave(b.initDispatcher().initLeaveIteration(), what); });
}

void dispatcher_traffic::count(const splits_request& what) {
  add("lease splits",
      [&](builder b) { write_splits_request(b.initDispatcher().initLeaseSplits(), what); });
}

void dispatcher_traffic::count(const task_end& what) {
  add("task ended", [&](builder b) { write_task_end(b.initDispatcher().initTaskEnded(), what); });
}

void dispatcher_traffic::count(const worker_registration& what) {
  add("register worker",
      [&](builder b) { write_registration(b.initDispatcher().initRegisterWorker(), what); });
}

void dispatcher_traffic::count(const worker::heartbeat& what) {
  add("worker heartbeat",
      [&](builder b) { write_heartbeat(b.initDispatcher().initWorkerHeartbeat(), what, {}); });
}

void dispatcher_traffic::count(const status& how) {
  if (counts_)
    kinds_["answers: status"] += {1, (how.ok() ? make_ok(1) : make_failure(how, 1)).size_bytes()};
}

void dispatcher_traffic::count(const iteration_view& what) {
  add("answers: iteration",
      [&](builder b) { write_iteration(b.initDispatcher().initIteration(), what); });
}

void dispatcher_traffic::count(const lease_answer& what) {
  add("answers: splits",
      [&](builder b) { write_splits_answer(b.initDispatcher().initSplitsLeased(), what); });
}

void dispatcher_traffic::count(const worker_registered& what) {
  add("answers: registered",
      [&](builder b) { write_registered(b.initDispatcher().initWorkerRegistered(), what); });
}

void dispatcher_traffic::count(const heartbeat_heard& what) {
  add("answers: heartbeat", [&](builder b) {
    auto unwanted = b.initDispatcher().initHeartbeatHeard().initUnwanted(
      static_cast<unsigned>(what.unwanted.size()));
    for (unsigned i = 0; i < unwanted.size(); ++i) unwanted.set(i, what.unwanted[i].value);
    b.getDispatcher().getHeartbeatHeard().setLeave(what.leave);
  });
}

void dispatcher_traffic::count(const worker_drains& what) {
  add("answers: drains",
      [&](builder b) { write_worker_drains(b.initDispatcher().initWorkerDrains(), what); });
}

void dispatcher_traffic::count(const task_order& what, const buffer& graph) {
  add("start task",
      [&](builder b) { write_task_order(b.initWorker().initStartTask(), what, graph); });
}

void dispatcher_traffic::count(const task_readers& what) {
  add("name readers", [&](builder b) { write_task_readers(b.initWorker().initReaders(), what); });
}

void dispatcher_traffic::count_stop(task_id which, const std::string& why) {
  if (counts_)
    kinds_["stop task"] += {1, make_stop_order(which, why).size_bytes()};
}

void dispatcher_traffic::count_announcement(const iteration_view& what) {
  add("announcements", [&](builder b) { write_iteration(b.initConsumer().initIteration(), what); });
}

} // namespace headrace::detail::test
