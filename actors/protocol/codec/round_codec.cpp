#include "headrace/actors/protocol/codec/round_codec.hpp"

namespace headrace::detail {

void write_round_epoch(schema::RoundEpoch::Builder out, const round_epoch& what) {
  out.setNumber(what.number);
  out.setFirstRound(what.first_round);
  auto tasks = out.initTasks(static_cast<unsigned>(what.tasks.size()));
  for (unsigned i = 0; i < tasks.size(); ++i) {
    tasks[i].setTaskId(what.tasks[i].task.value);
    tasks[i].setFirstGroup(what.tasks[i].first_group);
  }
}

round_epoch read_round_epoch(schema::RoundEpoch::Reader in) {
  round_epoch out{in.getNumber(), in.getFirstRound(), {}};
  for (auto x : in.getTasks()) out.tasks.push_back({task_id{x.getTaskId()}, x.getFirstGroup()});
  // An epoch without tasks is read as epoch 0, which means that no epoch was agreed on yet.
  return out.tasks.empty() ? round_epoch{} : out;
}

void write_round_seat(schema::RoundSeat::Builder out, const round_seat& what) {
  out.setConsumerId(what.who.value);
  out.setIndex(what.index);
  out.setBegins(what.begins);
}

round_seat read_round_seat(schema::RoundSeat::Reader in) {
  return {consumer_id{in.getConsumerId()}, in.getIndex(), in.getBegins()};
}

void write_rounds(schema::Rounds::Builder out, const round_view& what) {
  out.setConsumers(what.consumers);
  write_round_epoch(out.initEpoch(), what.now);
  out.setProposed(what.proposed);
  auto seats = out.initSeats(static_cast<unsigned>(what.seats.size()));
  for (unsigned i = 0; i < seats.size(); ++i) write_round_seat(seats[i], what.seats[i]);
}

round_view read_rounds(schema::Rounds::Reader in) {
  round_view out{.consumers = in.getConsumers(),
                 .now = read_round_epoch(in.getEpoch()),
                 .proposed = in.getProposed()};
  for (auto x : in.getSeats()) out.seats.push_back(read_round_seat(x));
  return out;
}

} // namespace headrace::detail
