#include "headrace/actors/protocol/splits_codec.hpp"

#include <fmt/format.h>

namespace headrace {

void write_splits_request(schema::LeaseSplits::Builder out, const splits_request& what) {
  out.setTaskId(what.task.value);
  out.setIncarnation(what.life.value);
  out.setJobId(what.job.value);
  out.setSource(what.which.source);
  out.setPass(what.which.pass);
  out.setNumber(what.which.number + 1);
  if (what.total)
    out.getTotal().setSplits(*what.total);
}

result<splits_request> read_splits_request(schema::LeaseSplits::Reader in) {
  if (in.getNumber() == 0)
    return invalid_argument(fmt::format("task {:x} asks for splits of source {}, pass {}, without "
                                        "a number; questions are counted from 1",
                                        in.getTaskId(), in.getSource(), in.getPass()));
  splits_request out{
    .task = task_id{in.getTaskId()},
    .life = incarnation{in.getIncarnation()},
    .job = job_id{in.getJobId()},
    .which = {in.getSource(), in.getPass(), in.getNumber() - 1},
  };
  if (in.getTotal().isSplits())
    out.total = in.getTotal().getSplits();
  return out;
}

void write_splits_answer(schema::SplitsLeased::Builder out, const splits_answer& what) {
  if (!what)
    return out.setExhausted();
  auto range = out.initRange();
  range.setFirst(what->first);
  range.setCount(what->count);
}

result<splits_answer> read_splits_answer(schema::SplitsLeased::Reader in) {
  switch (in.which()) {
  case schema::SplitsLeased::RANGE:
    return splits_answer{split_range{in.getRange().getFirst(), in.getRange().getCount()}};
  case schema::SplitsLeased::EXHAUSTED: return splits_answer{};
  }
  return unimplemented(
    fmt::format("answer number {} to a question for splits is not known to this build; its sender "
                "is newer",
                static_cast<uint16_t>(in.which())));
}

} // namespace headrace
