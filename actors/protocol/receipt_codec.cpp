#include "headrace/actors/protocol/receipt_codec.hpp"

#include <algorithm>

namespace headrace {

namespace {

void write_run(schema::SplitRun::Builder out, const split_run& what) {
  out.setSource(what.source);
  out.setPass(what.pass);
  out.getSplits().setFirst(what.splits.first);
  out.getSplits().setCount(what.splits.count);
}

split_run read_run(schema::SplitRun::Reader in) {
  const auto splits = in.getSplits();
  const auto first = splits.getFirst();
  return {in.getSource(), in.getPass(), {first, std::min(splits.getCount(), UINT64_MAX - first)}};
}

} // namespace

void write_receipt(schema::SplitReceipt::Builder out, const split_receipt& what) {
  out.setTaskId(what.task.value);
  out.setFromPass(what.from_pass);
  out.setApproximate(what.approximate);
  out.setGivenBack(what.given_back);
  out.setReceived(what.marks.received);
  out.setHandedOut(what.marks.handed_out);
  auto reached = out.initReached(static_cast<unsigned>(what.reached.size()));
  for (unsigned i = 0; i < reached.size(); ++i) write_run(reached[i], what.reached[i]);
  if (what.newest)
    write_run(out.initNewest(), *what.newest);
}

split_receipt read_receipt(schema::SplitReceipt::Reader in) {
  split_receipt out{.task = task_id{in.getTaskId()},
                    .from_pass = in.getFromPass(),
                    .approximate = in.getApproximate(),
                    .given_back = in.getGivenBack(),
                    .marks = {in.getReceived(), in.getHandedOut()}};
  if (in.getReached().size() > most_receipt_runs)
    out.from_pass = UINT64_MAX;
  else
    for (auto run : in.getReached()) out.reached.push_back(read_run(run));
  if (in.hasNewest())
    out.newest = read_run(in.getNewest());
  return out;
}

void write_receipts(capnp::List<schema::SplitReceipt>::Builder out,
                    const std::vector<split_receipt>& what) {
  for (unsigned i = 0; i < out.size(); ++i) write_receipt(out[i], what[i]);
}

std::vector<split_receipt> read_receipts(capnp::List<schema::SplitReceipt>::Reader in) {
  std::vector<split_receipt> out;
  for (auto one : in) out.push_back(read_receipt(one));
  return out;
}

} // namespace headrace
