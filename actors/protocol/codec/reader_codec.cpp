#include "headrace/actors/protocol/codec/reader_codec.hpp"

#include "headrace/actors/protocol/codec/dataset_codec.hpp"
#include "headrace/actors/protocol/codec/job_codec.hpp"
#include "headrace/actors/protocol/codec/receipt_codec.hpp"
#include "headrace/actors/protocol/codec/round_codec.hpp"
#include "headrace/actors/protocol/codec/timing_codec.hpp"
#include "headrace/pipeline/codec/vocabulary_codec.hpp"
#include "headrace/pipeline/types/trainer_cache.hpp"
#include "headrace/runtime/base/utf8.hpp"
#include "headrace/schemas/failure_codec.hpp"
#include "headrace/schemas/text.hpp"

#include <fmt/format.h>

namespace headrace::detail {

void write_open_iteration(schema::OpenIteration::Builder out, const open_iteration& what) {
  out.setConsumerId(what.consumer.value);
  out.setDatasetId(text_of(what.dataset_id));
  if (what.dataset)
    write_dataset_registration(out.initDataset(), *what.dataset);
  out.setJobName(text_of(what.job_name));
  out.setRepetition(what.repetition);
  write_parameters(out.initParameters(), what.parameters);
  out.setJobId(what.job.value);
  out.setNodeId(what.node);
  out.setPlace(what.place);
  out.setConsumerIndex(what.index);
  out.setRejoins(what.rejoins);
}

result<open_iteration> read_open_iteration(schema::OpenIteration::Reader in) {
  HEADRACE_ASSIGN(const auto parameters, read_parameters(in.getParameters()));
  return open_iteration{
    .consumer = consumer_id{in.getConsumerId()},
    .dataset_id = string_of(in.getDatasetId()),
    .dataset =
      in.hasDataset() ? std::optional{read_dataset_registration(in.getDataset())} : std::nullopt,
    .job_name = string_of(in.getJobName()),
    .repetition = in.getRepetition(),
    .parameters = parameters,
    .job = job_id{in.getJobId()},
    .node = in.getNodeId(),
    .place = in.getPlace(),
    .index = in.getConsumerIndex(),
    .rejoins = in.getRejoins(),
  };
}

namespace {

/// The most bytes of a reader's name, which may be the id of a trainer, and of its host; longer
/// texts are cut.
constexpr size_t most_name = longest_trainer_id;

template <class Builder>
void write_reader_to(Builder out, const reader_of& who) {
  out.setConsumerId(who.consumer.value);
  out.setJobId(who.job.value);
  out.setRepetition(who.repetition);
}

template <class Reader>
reader_of read_reader_from(Reader in) {
  return {consumer_id{in.getConsumerId()}, job_id{in.getJobId()}, in.getRepetition()};
}

} // namespace

namespace {

void write_marks(capnp::List<schema::ReaderMark>::Builder out, consumer_id who,
                 const std::map<task_id, uint64_t>& handed_out) {
  unsigned next = 0;
  for (const auto& [task, mark] : handed_out) {
    auto one = out[next++];
    one.setConsumerId(who.value);
    one.setTaskId(task.value);
    one.setHandedOut(mark);
  }
}

std::map<task_id, uint64_t> read_marks(capnp::List<schema::ReaderMark>::Reader in) {
  std::map<task_id, uint64_t> out;
  for (auto one : in) out[task_id{one.getTaskId()}] = one.getHandedOut();
  return out;
}

void write_pace(schema::ReaderPace::Builder out, const reader_pace& what) {
  out.setElapsedNs(static_cast<uint64_t>(what.elapsed.count()));
  out.setWaitedNs(static_cast<uint64_t>(what.waited.count()));
  out.setElements(what.elements);
  out.setBytes(what.bytes);
  out.setName(text_of(what.name));
  out.setHost(text_of(what.host));
}

reader_pace read_pace(schema::ReaderPace::Reader in) {
  // A time above the longest duration is read as the longest one.
  const auto time = [](uint64_t ns) {
    return duration{static_cast<int64_t>(std::min<uint64_t>(ns, INT64_MAX))};
  };
  const auto text = [](capnp::Text::Reader x) {
    return std::string{utf8_prefix(text_of(x), most_name)};
  };
  return {time(in.getElapsedNs()), time(in.getWaitedNs()), in.getElements(),
          in.getBytes(),           text(in.getName()),     text(in.getHost())};
}

} // namespace

void write_heartbeat(schema::ConsumerHeartbeat::Builder out, const reader_heartbeat& what) {
  write_reader_to(out, what.who);
  write_receipts(out.initReceipts(static_cast<unsigned>(what.receipts.size())), what.receipts);
  write_marks(out.initMarks(static_cast<unsigned>(what.handed_out.size())), what.who.consumer,
              what.handed_out);
  out.setWaits(what.waits);
  if (what.rounds) {
    auto rounds = out.initRounds();
    rounds.setRound(what.rounds->round);
    rounds.setAnswers(what.rounds->answers);
  }
  if (what.pace)
    write_pace(out.initPace(), *what.pace);
}
reader_heartbeat read_heartbeat(schema::ConsumerHeartbeat::Reader in) {
  reader_heartbeat out{read_reader_from(in), read_receipts(in.getReceipts()),
                       read_marks(in.getMarks()), in.getWaits()};
  if (in.hasRounds()) {
    const auto x = in.getRounds();
    out.rounds = round_progress{x.getRound(), x.getAnswers()};
  }
  if (in.hasPace())
    out.pace = read_pace(in.getPace());
  return out;
}
void write_leave(schema::LeaveIteration::Builder out, const leave_iteration& what) {
  write_reader_to(out, what.who);
  write_marks(out.initMarks(static_cast<unsigned>(what.handed_out.size())), what.who.consumer,
              what.handed_out);
  write_receipts(out.initReceipts(static_cast<unsigned>(what.receipts.size())), what.receipts);
}
leave_iteration read_leave(schema::LeaveIteration::Reader in) {
  return {read_reader_from(in), read_marks(in.getMarks()), read_receipts(in.getReceipts())};
}

namespace {

void write_addresses(capnp::List<schema::TaskInfo>::Builder out,
                     const std::vector<task_address>& what) {
  for (unsigned i = 0; i < out.size(); ++i) {
    const auto& [id, life, data_address, boot_id, worker, seat] = what[i];
    out[i].setTaskId(id.value);
    out[i].setIncarnation(life.value);
    out[i].setDataAddress(text_of(data_address));
    out[i].setBootId(text_of(boot_id));
    out[i].setWorkerId(worker.value);
    out[i].setPlace(seat.place);
    out[i].setColocated(seat.colocated);
  }
}

std::vector<task_address> read_addresses(capnp::List<schema::TaskInfo>::Reader in) {
  std::vector<task_address> out;
  for (auto task : in)
    out.push_back({task_id{task.getTaskId()}, incarnation{task.getIncarnation()},
                   string_of(task.getDataAddress()), string_of(task.getBootId()),
                   worker_id{task.getWorkerId()},
                   worker_seat{task.getPlace(), task.getColocated()}});
  return out;
}

} // namespace

void write_losses(schema::IterationLosses::Builder out, const iteration_losses& what) {
  out.setTasks(what.tasks);
  out.setSplits(what.splits);
  out.setReread(what.reread);
  out.setElements(what.elements);
  out.setRepeated(what.repeated);
}
iteration_losses read_losses(schema::IterationLosses::Reader in) {
  return {in.getTasks(), in.getSplits(), in.getReread(), in.getElements(), in.getRepeated()};
}

void write_iteration(schema::Iteration::Builder out, const iteration_view& what) {
  out.setJobId(what.job.value);
  out.setRepetition(what.repetition);
  out.setVersion(what.version);
  out.setFinished(what.finished);
  out.setShared(what.shared);
  out.setOverBefore(what.over_before);
  out.setEmpty(what.empty);
  out.setOverElements(what.over_elements);
  out.setLostTasks(what.lost_tasks);
  out.setTargets(to_schema(what.targets));
  write_timing(out.initTiming(), what.timing);
  if (!what.failure.ok())
    write_failure(out.initFailure().initFailed(), what.failure);
  write_addresses(out.initTasks(static_cast<unsigned>(what.tasks.size())), what.tasks);
  write_addresses(out.initStarting(static_cast<unsigned>(what.starting.size())), what.starting);
  auto lost = out.initLost(static_cast<unsigned>(what.lost.size()));
  for (unsigned i = 0; i < lost.size(); ++i) lost.set(i, what.lost[i].value);
  write_losses(out.initLosses(), what.losses);
  auto held = out.initHeld(static_cast<unsigned>(what.held.size()));
  for (unsigned i = 0; i < held.size(); ++i) held.set(i, what.held[i].value);
  out.setSince(what.since);
  auto gone = out.initGone(static_cast<unsigned>(what.gone.size()));
  for (unsigned i = 0; i < gone.size(); ++i) gone.set(i, what.gone[i].value);
  auto unserved = out.initUnserved(static_cast<unsigned>(what.unserved.size()));
  for (unsigned i = 0; i < unserved.size(); ++i) unserved.set(i, text_of(what.unserved[i]));
  if (what.rounds.consumers != 0)
    write_rounds(out.initRounds(), what.rounds);
}

result<iteration_view> read_iteration(schema::Iteration::Reader in) {
  HEADRACE_ASSIGN(const auto timing, read_timing(in.getTiming()));
  HEADRACE_ASSIGN(const auto targets, from_schema(in.getTargets()));
  iteration_view out{
    .job = job_id{in.getJobId()},
    .repetition = in.getRepetition(),
    .version = in.getVersion(),
    .finished = in.getFinished(),
    .shared = in.getShared(),
    .timing = timing,
    .targets = targets,
  };
  const auto failure = in.getFailure();
  switch (failure.which()) {
  case schema::Iteration::Failure::NONE: break;
  case schema::Iteration::Failure::FAILED: out.failure = read_failure(failure.getFailed()); break;
  default:
    return unimplemented(
      fmt::format("failure number {} of an iteration is not known to this build; its sender is "
                  "newer",
                  static_cast<uint16_t>(failure.which())));
  }
  out.tasks = read_addresses(in.getTasks());
  out.starting = read_addresses(in.getStarting());
  for (auto id : in.getLost()) out.lost.emplace_back(id);
  out.losses = read_losses(in.getLosses());
  for (auto id : in.getHeld()) out.held.emplace_back(id);
  out.since = in.getSince();
  for (auto id : in.getGone()) out.gone.emplace_back(id);
  for (auto entry : in.getUnserved()) out.unserved.emplace_back(text_of(entry));
  out.over_before = in.getOverBefore();
  out.empty = in.getEmpty();
  out.over_elements = in.getOverElements();
  out.lost_tasks = in.getLostTasks();
  if (in.hasRounds())
    out.rounds = read_rounds(in.getRounds());
  return out;
}

} // namespace headrace::detail
