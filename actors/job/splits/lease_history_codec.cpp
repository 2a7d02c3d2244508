#include "headrace/actors/job/splits/lease_history_codec.hpp"

#include "headrace/actors/job/splits/split_assigner_codec.hpp"
#include "headrace/actors/protocol/codec/reader_codec.hpp"
#include "headrace/actors/protocol/codec/receipt_codec.hpp"
#include "headrace/actors/protocol/codec/splits_codec.hpp"
#include "headrace/actors/store/stored_words.hpp"

namespace headrace::detail {

namespace {

void write_lost(schema::TaskLost::Builder out, task_id task, const auto& readers) {
  out.setTaskId(task.value);
  auto all = out.initReaders(list_size(readers));
  unsigned next = 0;
  for (auto who : readers) all.set(next++, who.value);
}

struct lease_fact_writer {
  schema::JobFact::Builder out;
  void operator()(const lease_history::lost& x) { write_lost(out.initLost(), x.task, x.readers); }
  void operator()(const lease_history::received& x) {
    auto to = out.initReceived();
    to.setConsumerId(x.who.value);
    write_receipt(to.initReceipt(), x.what);
  }
  void operator()(const lease_history::unheard& x) {
    auto to = out.initUnheard();
    to.setConsumerId(x.who.value);
    to.setVersion(x.version);
  }
  void operator()(const lease_history::given& x) {
    auto to = out.initGiven();
    to.setTaskId(x.task.value);
    to.setVersion(x.version);
    write_receipt(to.initReceipt(), x.what);
    to.setLostElements(x.lost);
  }
  void operator()(const lease_history::settled& x) { write(out.initSettled(), x); }
  void operator()(const lease_history::done& x) {
    auto to = out.initDone();
    to.setTaskId(x.task.value);
    write_done(to.initPlaces(list_size(x.places)), x.places);
  }
  void operator()(const lease_history::kept& x) { out.initKept().setTaskId(x.task.value); }
  void operator()(const lease_history::released& x) { write(out.initReleased(), x); }

private:
  static void write(schema::TaskSettled::Builder to, const auto& x) {
    to.setTaskId(x.task.value);
    write_losses(to.initLosses(), x.lost);
  }
};

} // namespace

void write_fact(schema::JobFact::Builder out, const lease_history::fact& what) {
  std::visit(lease_fact_writer{out}, what);
}

result<lease_history::fact> read_lease_fact(schema::JobFact::Reader in) {
  using fact = lease_history::fact;
  switch (in.which()) {
  case schema::JobFact::LOST: {
    const auto x = in.getLost();
    lease_history::lost out{task_id{x.getTaskId()}, {}};
    for (auto who : x.getReaders()) out.readers.emplace_back(who);
    return fact{std::move(out)};
  }
  case schema::JobFact::RECEIVED: {
    const auto x = in.getReceived();
    return fact{
      lease_history::received{consumer_id{x.getConsumerId()}, read_receipt(x.getReceipt())}};
  }
  case schema::JobFact::UNHEARD: {
    const auto x = in.getUnheard();
    return fact{lease_history::unheard{consumer_id{x.getConsumerId()}, x.getVersion()}};
  }
  case schema::JobFact::GIVEN: {
    const auto x = in.getGiven();
    return fact{lease_history::given{task_id{x.getTaskId()}, x.getVersion(),
                                     read_receipt(x.getReceipt()), x.getLostElements()}};
  }
  case schema::JobFact::SETTLED: {
    const auto x = in.getSettled();
    return fact{lease_history::settled{task_id{x.getTaskId()}, read_losses(x.getLosses())}};
  }
  case schema::JobFact::DONE: {
    const auto x = in.getDone();
    return fact{lease_history::done{task_id{x.getTaskId()}, read_done(x.getPlaces())}};
  }
  case schema::JobFact::KEPT: return fact{lease_history::kept{task_id{in.getKept().getTaskId()}}};
  case schema::JobFact::RELEASED: {
    const auto x = in.getReleased();
    return fact{lease_history::released{task_id{x.getTaskId()}, read_losses(x.getLosses())}};
  }
  default: return unknown_stored("fact of a lease history", static_cast<unsigned>(in.which()));
  }
}

schema::Holder state_codec<lease_history>::stored(history::held_by x) {
  switch (x) {
  case history::held_by::nobody: return schema::Holder::NOBODY;
  case history::held_by::perhaps: return schema::Holder::PERHAPS;
  case history::held_by::unknown: return schema::Holder::UNKNOWN;
  case history::held_by::reader: return schema::Holder::READER;
  }
  return static_cast<schema::Holder>(UINT16_MAX);
}

result<lease_history::held_by> state_codec<lease_history>::read_holder(schema::Holder x) {
  switch (x) {
  case schema::Holder::NOBODY: return history::held_by::nobody;
  case schema::Holder::PERHAPS: return history::held_by::perhaps;
  case schema::Holder::UNKNOWN: return history::held_by::unknown;
  case schema::Holder::READER: return history::held_by::reader;
  }
  return unknown_stored("holder of splits", static_cast<unsigned>(x));
}

void state_codec<lease_history>::write(schema::LeaseState::Builder out, const history& what) {
  auto tasks = out.initTasks(list_size(what.tasks_));
  unsigned next = 0;
  for (const auto& [id, of] : what.tasks_) write_task(tasks[next++], id, of);
  auto lost = out.initLost(list_size(what.lost_));
  next = 0;
  for (const auto& [id, readers] : what.lost_) write_lost(lost[next++], id, readers);
  write_losses(out.initLosses(), what.losses_);
  auto kept = out.initKept(list_size(what.kept_));
  next = 0;
  for (auto id : what.kept_) kept.set(next++, id.value);
}

void state_codec<lease_history>::write_task(schema::LeaseState::TaskLeases::Builder out, task_id id,
                                            const history::task_leases& what) {
  out.setTaskId(id.value);
  auto leases = out.initLeases(list_size(what.all));
  for (unsigned i = 0; i < leases.size(); ++i) {
    const auto& [run, holder] = what.all[i];
    auto to = leases[i];
    to.setSource(run.source);
    to.setHolder(stored(holder));
    to.setPass(run.pass);
    to.setFirst(run.splits.first);
    to.setCount(run.splits.count);
  }
  auto answered = out.initAnswered(list_size(what.answered));
  unsigned next = 0;
  for (const auto& [where, count] : what.answered) {
    auto to = answered[next++];
    to.setSource(where.first);
    to.setPass(where.second);
    to.setCount(count);
  }
  auto newest = out.initNewest(list_size(what.newest));
  for (unsigned i = 0; i < newest.size(); ++i) write_run(newest[i], what.newest[i]);
  out.setOutOfOrder(what.out_of_order);
  out.setGivenBack(what.given_back);
  out.setUntold(what.untold);
  out.setForgotten(what.forgotten);
  out.setLostElements(what.lost_elements);
}

result<lease_history> state_codec<lease_history>::read(schema::LeaseState::Reader in, history out) {
  for (auto from : in.getTasks()) {
    const task_id id{from.getTaskId()};
    HEADRACE_ASSIGN(auto of, read_task(from));
    if (!out.tasks_.try_emplace(id, std::move(of)).second)
      return data_loss(fmt::format("the leases of task {} are there twice", to_string(id)));
  }
  for (auto from : in.getLost()) {
    const task_id id{from.getTaskId()};
    const auto [at, fresh] = out.lost_.try_emplace(id);
    if (!fresh)
      return data_loss(fmt::format("task {} is lost twice", to_string(id)));
    for (auto who : from.getReaders()) at->second.insert(consumer_id{who});
  }
  out.losses_ = read_losses(in.getLosses());
  for (auto id : in.getKept()) {
    if (!out.tasks_.contains(task_id{id}))
      return data_loss(fmt::format("task {} is kept, and its leases are not known", id));
    out.kept_.insert(task_id{id});
  }
  return out;
}

result<lease_history::task_leases>
state_codec<lease_history>::read_task(schema::LeaseState::TaskLeases::Reader in) {
  history::task_leases out;
  for (auto x : in.getLeases()) {
    HEADRACE_ASSIGN(const auto holder, read_holder(x.getHolder()));
    HEADRACE_ASSIGN(const auto splits, checked_range(x.getFirst(), x.getCount()));
    out.all.push_back({{x.getSource(), x.getPass(), splits}, holder});
  }
  for (auto x : in.getAnswered())
    if (!out.answered.try_emplace({x.getSource(), x.getPass()}, x.getCount()).second)
      return data_loss(fmt::format("answers for source {} are counted twice in pass {}",
                                   x.getSource(), x.getPass()));
  for (auto x : in.getNewest()) out.newest.push_back(read_run(x));
  out.out_of_order = in.getOutOfOrder();
  out.given_back = in.getGivenBack();
  out.untold = in.getUntold();
  out.forgotten = in.getForgotten();
  out.lost_elements = in.getLostElements();
  return out;
}

} // namespace headrace::detail
