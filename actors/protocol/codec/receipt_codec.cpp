#include "headrace/actors/protocol/codec/receipt_codec.hpp"

#include "headrace/schemas/text.hpp"

#include <protozero/buffer_string.hpp>
#include <protozero/exception.hpp>
#include <protozero/varint.hpp>

#include <algorithm>
#include <string>

namespace headrace::detail {

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

namespace {

/// The index after the consecutive runs that have the source and the pass of the run at `from`.
size_t end_of_pass(const std::vector<split_run>& all, size_t from) {
  auto to = from + 1;
  while (to < all.size() && all[to].source == all[from].source && all[to].pass == all[from].pass)
    ++to;
  return to;
}

std::string varints_of(const std::vector<split_run>& all) {
  std::string out;
  const auto add = [&](uint64_t x) { protozero::add_varint_to_buffer(&out, x); };
  for (size_t from = 0; from < all.size();) {
    const auto to = end_of_pass(all, from);
    add(all[from].source);
    add(all[from].pass);
    add(to - from);
    for (uint64_t before = 0; from < to; ++from) {
      const auto [first, count] = all[from].splits;
      add(first - before);
      add(count);
      before = first + count;
    }
  }
  return out;
}

/// nullopt: the bytes are not valid runs, or the runs are too many.
std::optional<std::vector<split_run>> runs_of(capnp::Data::Reader in) {
  std::vector<split_run> out;
  const auto* at = chars_of(in).data();
  const auto* const end = at + in.size();
  const auto next = [&] { return protozero::decode_varint(&at, end); };
  try {
    while (at != end) {
      const auto source = next(), pass = next(), runs = next();
      if (source > UINT32_MAX || runs > most_receipt_runs - out.size())
        return {};
      uint64_t before = 0;
      for (uint64_t i = 0; i < runs; ++i) {
        const auto gap = next(), count = next();
        if (gap > UINT64_MAX - before || count > UINT64_MAX - before - gap)
          return {};
        out.push_back({static_cast<uint32_t>(source), pass, {before + gap, count}});
        before += gap + count;
      }
    }
  } catch (const protozero::exception&) { // a number is cut off or too long
    return {};
  }
  return out;
}

} // namespace

void write_receipt(schema::SplitReceipt::Builder out, const split_receipt& what) {
  out.setTaskId(what.task.value);
  out.setFromPass(what.from_pass);
  out.setApproximate(what.approximate);
  out.setGivenBack(what.given_back);
  out.setWithoutGivenBack(what.without_given_back);
  out.setReceived(what.marks.received);
  out.setHandedOut(what.marks.handed_out);
  const auto reached = varints_of(what.reached);
  out.setReached(data_of(reached));
  if (what.newest)
    write_run(out.initNewest(), *what.newest);
}

split_receipt read_receipt(schema::SplitReceipt::Reader in) {
  split_receipt out{.task = task_id{in.getTaskId()},
                    .from_pass = in.getFromPass(),
                    .approximate = in.getApproximate(),
                    .given_back = in.getGivenBack(),
                    .without_given_back = in.getWithoutGivenBack(),
                    .marks = {in.getReceived(), in.getHandedOut()}};
  if (auto reached = runs_of(in.getReached()))
    out.reached = *std::move(reached);
  else
    out.from_pass = UINT64_MAX;
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

} // namespace headrace::detail
