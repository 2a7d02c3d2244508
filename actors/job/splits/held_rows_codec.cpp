#include "headrace/actors/job/splits/held_rows_codec.hpp"

#include "headrace/actors/store/stored_words.hpp"

namespace headrace::detail {

namespace {

void write_mark(schema::ReaderMark::Builder out, task_id task, consumer_id who,
                const reader_marks& at) {
  out.setTaskId(task.value);
  out.setConsumerId(who.value);
  out.setReceived(at.received);
  out.setHandedOut(at.handed_out);
}

struct held_fact_writer {
  schema::JobFact::Builder out;
  void operator()(const held_rows::task_over& x) {
    auto to = out.initTaskOver();
    to.setTaskId(x.task.value);
    auto readers = to.initReaders(list_size(x.readers));
    unsigned next = 0;
    for (const auto& [who, at] : x.readers) write_mark(readers[next++], x.task, who, at);
  }
  void operator()(const held_rows::handed_out& x) {
    write_mark(out.initHandedOut(), x.task, x.who, {0, x.elements});
  }
  void operator()(const held_rows::reader_gone& x) {
    out.initReaderGone().setConsumerId(x.who.value);
  }
};

} // namespace

void write_fact(schema::JobFact::Builder out, const held_rows::fact& what) {
  std::visit(held_fact_writer{out}, what);
}

result<held_rows::fact> read_held_fact(schema::JobFact::Reader in) {
  using fact = held_rows::fact;
  switch (in.which()) {
  case schema::JobFact::TASK_OVER: {
    const auto x = in.getTaskOver();
    held_rows::task_over out{task_id{x.getTaskId()}, {}};
    for (auto one : x.getReaders())
      out.readers[consumer_id{one.getConsumerId()}] = {one.getReceived(), one.getHandedOut()};
    return fact{std::move(out)};
  }
  case schema::JobFact::HANDED_OUT: {
    const auto x = in.getHandedOut();
    return fact{held_rows::handed_out{task_id{x.getTaskId()}, consumer_id{x.getConsumerId()},
                                      x.getHandedOut()}};
  }
  case schema::JobFact::READER_GONE:
    return fact{held_rows::reader_gone{consumer_id{in.getReaderGone().getConsumerId()}}};
  default: return unknown_stored("fact of held rows", static_cast<unsigned>(in.which()));
  }
}

void state_codec<held_rows>::write(schema::JobState::Repetition::Builder out,
                                   const held_rows& what) {
  size_t many = 0;
  for (const auto& [task, readers] : what.held_) many += readers.size();
  auto held = out.initHeld(static_cast<unsigned>(many));
  unsigned next = 0;
  for (const auto& [task, readers] : what.held_)
    for (const auto& [who, at] : readers) write_mark(held[next++], task, who, at);
  out.setLostElements(what.lost_);
}

result<held_rows> state_codec<held_rows>::read(schema::JobState::Repetition::Reader in) {
  held_rows out;
  for (auto x : in.getHeld()) {
    const task_id task{x.getTaskId()};
    const consumer_id who{x.getConsumerId()};
    const reader_marks at{x.getReceived(), x.getHandedOut()};
    if (at.handed_out >= at.received)
      return data_loss(fmt::format("consumer {} has handed out {} of {} elements of task {}, and "
                                   "holds none",
                                   to_string(who), at.handed_out, at.received, to_string(task)));
    if (!out.held_[task].try_emplace(who, at).second)
      return data_loss(
        fmt::format("consumer {} holds rows of task {} twice", to_string(who), to_string(task)));
  }
  out.lost_ = in.getLostElements();
  return out;
}

} // namespace headrace::detail
