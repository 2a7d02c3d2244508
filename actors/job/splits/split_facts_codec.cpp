#include "headrace/actors/job/splits/split_assigner_codec.hpp"
#include "headrace/actors/protocol/codec/splits_codec.hpp"
#include "headrace/actors/store/stored_words.hpp"

// Reads and writes the facts of a split_assigner in job_record.capnp.

namespace headrace::detail {

namespace {

struct split_fact_writer {
  schema::JobFact::Builder out;
  void operator()(const split_assigner::shared_by& x) { out.initSharedBy().setTasks(x.tasks); }
  void operator()(const split_assigner::came_to& x) {
    auto to = out.initCameTo();
    to.setTaskId(x.task.value);
    to.setSource(x.source);
    to.setPass(x.pass);
    if (x.total)
      to.getTotal().setSplits(*x.total);
    if (x.listing)
      write_listing(to.initListing(), *x.listing, true);
  }
  void operator()(const split_assigner::leased_to& x) { write_lease(out.initLeasedTo(), x); }
  void operator()(const split_assigner::task_gone& x) {
    out.initTaskGone().setTaskId(x.task.value);
  }
  void operator()(const split_assigner::returned& x) {
    auto to = out.initReturned();
    to.setSource(x.source);
    to.setPass(x.pass);
    to.setKept(x.kept);
    auto splits = to.initSplits();
    splits.setFirst(x.splits.first);
    splits.setCount(x.splits.count);
  }
  void operator()(const split_assigner::closed& x) {
    auto to = out.initClosed();
    to.setTaskId(x.task.value);
    to.setSource(x.source);
    to.setPass(x.pass);
  }
};

result<split_assigner::fact> read_came_to(schema::CameTo::Reader in) {
  split_assigner::came_to out{task_id{in.getTaskId()}, in.getSource(), in.getPass(), {}};
  const auto total = in.getTotal();
  switch (total.which()) {
  case schema::CameTo::Total::UNKNOWN: break;
  case schema::CameTo::Total::SPLITS: out.total = total.getSplits(); break;
  default: return unknown_stored("number of splits of kind", static_cast<unsigned>(total.which()));
  }
  if (in.hasListing())
    out.listing = *read_listing(in.getListing());
  return split_assigner::fact{std::move(out)};
}

} // namespace

result<split_range> checked_range(uint64_t first, uint64_t count) {
  if (count > UINT64_MAX - first)
    return data_loss(
      fmt::format("{} splits from {} on would end after the last number", count, first));
  return split_range{first, count};
}

void write_lease(schema::LeasedTo::Builder out, const split_assigner::leased_to& what) {
  out.setTaskId(what.task.value);
  out.setSource(what.source);
  out.setPass(what.pass);
  if (what.number) {
    out.setNumbered(true);
    out.setNumber(*what.number);
  }
  if (what.splits) {
    auto range = out.initRange();
    range.setFirst(what.splits->first);
    range.setCount(what.splits->count);
    out.setContinues(what.continues);
  } else {
    auto over = out.initOver();
    over.setAlone(what.splits.over.alone);
    over.setRunning(what.splits.over.running);
  }
}

result<split_assigner::leased_to> read_lease(schema::LeasedTo::Reader in) {
  split_assigner::leased_to out{task_id{in.getTaskId()}, in.getSource(), in.getPass(), {}, {}};
  if (in.getNumbered())
    out.number = in.getNumber();
  out.continues = in.getContinues();
  switch (in.which()) {
  case schema::LeasedTo::RANGE: {
    const auto range = in.getRange();
    HEADRACE_ASSIGN(out.splits.splits, checked_range(range.getFirst(), range.getCount()));
    return out;
  }
  case schema::LeasedTo::OVER:
    if (out.continues)
      return data_loss(fmt::format("the end of pass {} was given to task {} together with splits",
                                   out.pass, to_string(out.task)));
    out.splits.over = {in.getOver().getAlone(), in.getOver().getRunning()};
    return out;
  default:
    return unknown_stored("answer to a question for splits", static_cast<unsigned>(in.which()));
  }
}

void write_fact(schema::JobFact::Builder out, const split_assigner::fact& what) {
  std::visit(split_fact_writer{out}, what);
}

result<split_assigner::fact> read_split_fact(schema::JobFact::Reader in) {
  using fact = split_assigner::fact;
  switch (in.which()) {
  case schema::JobFact::SHARED_BY:
    return fact{split_assigner::shared_by{in.getSharedBy().getTasks()}};
  case schema::JobFact::CAME_TO: return read_came_to(in.getCameTo());
  case schema::JobFact::LEASED_TO: {
    HEADRACE_ASSIGN(auto lease, read_lease(in.getLeasedTo()));
    return fact{lease};
  }
  case schema::JobFact::TASK_GONE:
    return fact{split_assigner::task_gone{task_id{in.getTaskGone().getTaskId()}}};
  case schema::JobFact::RETURNED: {
    const auto x = in.getReturned();
    const auto splits = x.getSplits();
    HEADRACE_ASSIGN(const auto range, checked_range(splits.getFirst(), splits.getCount()));
    return fact{split_assigner::returned{x.getSource(), x.getPass(), range, x.getKept()}};
  }
  case schema::JobFact::CLOSED: {
    const auto x = in.getClosed();
    return fact{split_assigner::closed{task_id{x.getTaskId()}, x.getSource(), x.getPass()}};
  }
  default: return unknown_stored("fact of a split assigner", static_cast<unsigned>(in.which()));
  }
}

} // namespace headrace::detail
