#include "headrace/actors/job/iteration_codec.hpp"

#include "headrace/actors/protocol/codec/registration_codec.hpp"
#include "headrace/actors/protocol/codec/round_codec.hpp"
#include "headrace/actors/store/stored_words.hpp"
#include "headrace/schemas/failure_codec.hpp"

namespace headrace::detail {

namespace {

using task_state = iteration::task_state;

schema::TaskState stored_task_state(task_state x) {
  switch (x) {
  case task_state::starting: return schema::TaskState::STARTING;
  case task_state::running: return schema::TaskState::RUNNING;
  case task_state::ended: return schema::TaskState::ENDED;
  case task_state::failed: return schema::TaskState::FAILED;
  case task_state::lost: return schema::TaskState::LOST;
  case task_state::left: return schema::TaskState::LEFT;
  }
  return static_cast<schema::TaskState>(UINT16_MAX);
}

result<task_state> read_task_state(schema::TaskState x) {
  switch (x) {
  case schema::TaskState::STARTING: return task_state::starting;
  case schema::TaskState::RUNNING: return task_state::running;
  case schema::TaskState::ENDED: return task_state::ended;
  case schema::TaskState::FAILED: return task_state::failed;
  case schema::TaskState::LOST: return task_state::lost;
  case schema::TaskState::LEFT: return task_state::left;
  }
  return unknown_stored("task state", static_cast<unsigned>(x));
}

void write_task(schema::Task::Builder out, const iteration::task& what) {
  out.setTaskId(what.id.value);
  out.setIncarnation(what.life.value);
  write_registration(out.initWorker(), {what.worker, {}});
  out.setState(stored_task_state(what.state));
  out.setRan(what.ran);
  out.setByItself(what.by_itself);
  out.setElements(what.made.elements);
  out.setBytes(what.made.bytes);
  out.setIgnored(what.made.ignored);
  out.setNewest(what.newest);
  out.setShard(what.worker.shard ? *what.worker.shard + 1 : 0);
}

result<iteration::task> read_task(schema::Task::Reader in) {
  HEADRACE_ASSIGN(const auto state, read_task_state(in.getState()));
  auto worker = read_registration(in.getWorker()).info;
  if (in.getShard() != 0)
    worker.shard = in.getShard() - 1;
  return iteration::task{
    .id = task_id{in.getTaskId()},
    .life = incarnation{in.getIncarnation()},
    .worker = std::move(worker),
    .state = state,
    .made = {in.getElements(), in.getBytes(), in.getIgnored()},
    .newest = in.getNewest(),
    .ran = in.getRan(),
    .by_itself = in.getByItself(),
  };
}

void write_absence(schema::Absence::Builder out, const round_table::absence& what) {
  out.setNext(what.next);
  out.setMost(what.most);
  out.setLost(what.lost);
}

round_table::absence read_absence(schema::Absence::Reader in) {
  return {in.getNext(), in.getMost(), in.getLost()};
}

struct iteration_fact_writer {
  schema::JobFact::Builder out;
  void operator()(const iteration::reader_joined& x) {
    auto to = out.initReaderJoined();
    to.setConsumerId(x.who.value);
    to.setNodeId(x.node);
    to.setPlace(x.place);
    to.setIndex(x.index);
  }
  void operator()(const iteration::reader_left& x) {
    auto to = out.initReaderLeft();
    to.setConsumerId(x.who.value);
    if (x.from != round_table::absence{})
      write_absence(to.initFrom(), x.from);
    to.setUpTo(x.up_to);
  }
  void operator()(const iteration::task_is& x) { write_task(out.initTaskIs(), x.now); }
  void operator()(const iteration::finished_as& x) {
    auto to = out.initFinishedAs();
    if (!x.how.ok())
      write_failure(to.initFailure(), x.how);
  }
  void operator()(const round_table::proposed& x) { out.initEpochProposed().setEpoch(x.epoch); }
  void operator()(const round_table::agreed& x) {
    write_round_epoch(out.initEpochAgreed(), x.next);
  }
};

} // namespace

void write_fact(schema::JobFact::Builder out, const iteration::fact& what) {
  std::visit(iteration_fact_writer{out}, what);
}

result<iteration::fact> read_iteration_fact(schema::JobFact::Reader in) {
  switch (in.which()) {
  case schema::JobFact::READER_JOINED: {
    const auto x = in.getReaderJoined();
    return iteration::fact{iteration::reader_joined{consumer_id{x.getConsumerId()}, x.getNodeId(),
                                                    x.getPlace(), x.getIndex()}};
  }
  case schema::JobFact::READER_LEFT: {
    const auto x = in.getReaderLeft();
    return iteration::fact{iteration::reader_left{consumer_id{x.getConsumerId()},
                                                  read_absence(x.getFrom()), x.getUpTo()}};
  }
  case schema::JobFact::TASK_IS: {
    HEADRACE_ASSIGN(auto now, read_task(in.getTaskIs()));
    return iteration::fact{iteration::task_is{std::move(now)}};
  }
  case schema::JobFact::FINISHED_AS: {
    const auto x = in.getFinishedAs();
    return iteration::fact{
      iteration::finished_as{x.hasFailure() ? read_failure(x.getFailure()) : status{}}};
  }
  case schema::JobFact::EPOCH_PROPOSED:
    return iteration::fact{round_table::proposed{in.getEpochProposed().getEpoch()}};
  case schema::JobFact::EPOCH_AGREED:
    return iteration::fact{round_table::agreed{read_round_epoch(in.getEpochAgreed())}};
  default: return unknown_stored("fact of an iteration", static_cast<unsigned>(in.which()));
  }
}

void state_codec<iteration>::write(schema::IterationState::Builder out, const iteration& what) {
  out.setVersion(what.version_);
  out.setLastTask(what.last_task_);
  out.setOpened(what.opened_);
  out.setFinished(what.finished_);
  if (!what.failure_.ok())
    write_failure(out.initFailure(), what.failure_);
  auto tasks = out.initTasks(list_size(what.tasks_));
  unsigned next = 0;
  for (const auto& [id, task] : what.tasks_) write_task(tasks[next++], task);
  auto readers = out.initReaders(list_size(what.consumers_));
  next = 0;
  for (auto who : what.consumers_) {
    auto to = readers[next++];
    to.setConsumerId(who.value);
    if (const auto node = what.nodes_.find(who); node != what.nodes_.end())
      to.setNodeId(node->second);
    if (const auto place = what.places_.find(who); place != what.places_.end())
      to.setPlace(place->second);
  }
  if (what.rounds_ == round_table{})
    return;
  write_rounds(out.initRounds(), what.rounds_.view());
  auto absent = out.initAbsent(list_size(what.rounds_.absent()));
  next = 0;
  for (const auto& x : what.rounds_.absent()) write_absence(absent[next++], x);
  out.setMissed(what.rounds_.missed());
}

result<iteration> state_codec<iteration>::read(schema::IterationState::Reader in, iteration out) {
  out.version_ = in.getVersion();
  out.last_task_ = in.getLastTask();
  out.opened_ = in.getOpened();
  out.finished_ = in.getFinished();
  if (in.hasFailure())
    out.failure_ = read_failure(in.getFailure());
  for (auto from : in.getTasks()) {
    HEADRACE_ASSIGN(auto task, read_task(from));
    const auto id = task.id;
    if (id.value > out.last_task_)
      return data_loss(fmt::format("task {} is there, and the last one is {}", to_string(id),
                                   to_hex(out.last_task_)));
    if (!out.tasks_.try_emplace(id, std::move(task)).second)
      return data_loss(fmt::format("task {} is there twice", to_string(id)));
  }
  for (auto from : in.getReaders()) {
    const consumer_id who{from.getConsumerId()};
    if (!out.consumers_.insert(who).second)
      return data_loss(fmt::format("consumer {} reads twice", to_string(who)));
    if (from.getNodeId() != 0)
      out.nodes_[who] = from.getNodeId();
    if (from.getPlace() != 0)
      out.places_[who] = from.getPlace();
  }
  if (in.hasRounds()) {
    std::vector<round_table::absence> absent;
    for (auto x : in.getAbsent()) absent.push_back(read_absence(x));
    out.rounds_ = round_table{read_rounds(in.getRounds()), std::move(absent), in.getMissed()};
  }
  return out;
}

} // namespace headrace::detail
