#include "headrace/actors/protocol/codec/splits_codec.hpp"

#include "headrace/actors/protocol/codec/receipt_codec.hpp"
#include "headrace/schemas/text.hpp"

#include <fmt/format.h>

namespace headrace::detail {

namespace {

void write_range(schema::SplitRange::Builder out, const split_range& what) {
  out.setFirst(what.first);
  out.setCount(what.count);
}

split_range read_range(schema::SplitRange::Reader in) { return {in.getFirst(), in.getCount()}; }

} // namespace

void write_unread_splits(schema::UnreadSplits::Builder out, const unread_splits& what) {
  out.setSource(what.source);
  out.setPass(what.pass);
  out.setAnswered(what.answered);
  write_range(out.initRest(), what.rest);
}

unread_splits read_unread_splits(schema::UnreadSplits::Reader in) {
  return {in.getSource(), in.getPass(), in.getAnswered(), read_range(in.getRest())};
}

void write_done(capnp::List<schema::SplitsDone>::Builder out,
                const std::vector<splits_done>& what) {
  for (unsigned i = 0; i < out.size(); ++i) {
    auto to = out[i];
    to.setSource(what[i].source);
    to.setPass(what[i].pass);
    if (!what[i].split)
      to.setNone();
    else if (what[i].through)
      to.setThrough(*what[i].split);
    else
      to.setBefore(*what[i].split);
  }
}

std::vector<splits_done> read_done(capnp::List<schema::SplitsDone>::Reader in) {
  std::vector<splits_done> out;
  for (auto from : in) {
    splits_done one{.source = from.getSource(), .pass = from.getPass()};
    if (from.isBefore())
      one.split = from.getBefore();
    else if (from.isThrough()) {
      one.split = from.getThrough();
      one.through = true;
    }
    out.push_back(one);
  }
  return out;
}

void write_listing(schema::SplitListing::Builder out, const split_listing& what,
                   bool with_entries) {
  out.setDigest(what.digest);
  out.setCount(what.count);
  if (!with_entries)
    return;
  auto all = out.initEntries(static_cast<unsigned>(what.entries.size()));
  for (unsigned i = 0; i < all.size(); ++i) all.set(i, text_of(what.entries[i]));
}

std::shared_ptr<const split_listing> read_listing(schema::SplitListing::Reader in) {
  auto out = std::make_shared<split_listing>();
  out->digest = in.getDigest();
  out->count = in.getCount();
  for (auto entry : in.getEntries()) out->entries.emplace_back(text_of(entry));
  return out;
}

void write_splits_request(schema::LeaseSplits::Builder out, const splits_request& what) {
  out.setTaskId(what.task.value);
  out.setIncarnation(what.life.value);
  out.setJobId(what.job.value);
  const auto& [which, total, listing, closes, given, done] = what.wish;
  out.setSource(which.source);
  out.setPass(which.pass);
  out.setNumber(which.number);
  if (total)
    out.getTotal().setSplits(*total);
  if (listing)
    write_listing(out.initListing(), *listing, which.number == 0);
  if (closes)
    write_unread_splits(out.initCloses(), *closes);
  if (given) {
    write_receipt(out.initGiven(), given->splits);
    out.setReadersVersion(given->version);
    out.setLostElements(given->lost);
  }
  if (!done.empty())
    write_done(out.initDone(static_cast<unsigned>(done.size())), done);
}

splits_request read_splits_request(schema::LeaseSplits::Reader in) {
  splits_request out{
    .task = task_id{in.getTaskId()},
    .life = incarnation{in.getIncarnation()},
    .job = job_id{in.getJobId()},
    .wish = {.which = {in.getSource(), in.getPass(), in.getNumber()}},
  };
  if (in.getTotal().isSplits())
    out.wish.total = in.getTotal().getSplits();
  if (in.hasListing())
    out.wish.listing = read_listing(in.getListing());
  if (in.hasCloses())
    out.wish.closes = read_unread_splits(in.getCloses());
  if (in.hasGiven())
    out.wish.given = {in.getReadersVersion(), read_receipt(in.getGiven()), in.getLostElements()};
  if (in.hasDone())
    out.wish.done = read_done(in.getDone());
  return out;
}

void write_splits_answer(schema::SplitsLeased::Builder out, const lease_answer& what) {
  const auto& first = what.first;
  if (!first) {
    out.setExhausted();
    out.setAlone(first.over.alone);
    out.setRunning(first.over.running);
    return;
  }
  write_range(out.initRange(), *first);
  if (what.more.empty())
    return;
  auto more = out.initMore(static_cast<unsigned>(what.more.size()));
  for (unsigned i = 0; i < more.size(); ++i) write_range(more[i], what.more[i]);
}

result<lease_answer> read_splits_answer(schema::SplitsLeased::Reader in) {
  lease_answer out;
  switch (in.which()) {
  case schema::SplitsLeased::RANGE:
    out.first = read_range(in.getRange());
    for (auto one : in.getMore()) out.more.push_back(read_range(one));
    return out;
  case schema::SplitsLeased::EXHAUSTED:
    out.first = pass_over{in.getAlone(), in.getRunning()};
    return out;
  }
  return unimplemented(
    fmt::format("answer number {} to a question for splits is not known to this build; its sender "
                "is newer",
                static_cast<uint16_t>(in.which())));
}

} // namespace headrace::detail
