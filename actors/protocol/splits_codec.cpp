#include "headrace/actors/protocol/splits_codec.hpp"

#include "headrace/actors/protocol/receipt_codec.hpp"

#include <fmt/format.h>

namespace headrace {

void write_unread_splits(schema::UnreadSplits::Builder out, const unread_splits& what) {
  out.setSource(what.source);
  out.setPass(what.pass);
  out.setAnswered(what.answered);
  auto range = out.initRest();
  range.setFirst(what.rest.first);
  range.setCount(what.rest.count);
}

unread_splits read_unread_splits(schema::UnreadSplits::Reader in) {
  return {in.getSource(),
          in.getPass(),
          in.getAnswered(),
          {in.getRest().getFirst(), in.getRest().getCount()}};
}

void write_listing(schema::SplitListing::Builder out, const split_listing& what,
                   bool with_entries) {
  out.setDigest(what.digest);
  out.setCount(what.count);
  if (!with_entries)
    return;
  auto all = out.initEntries(static_cast<unsigned>(what.entries.size()));
  for (unsigned i = 0; i < all.size(); ++i) all.set(i, what.entries[i]);
}

std::shared_ptr<const split_listing> read_listing(schema::SplitListing::Reader in) {
  auto out = std::make_shared<split_listing>();
  out->digest = in.getDigest();
  out->count = in.getCount();
  for (auto entry : in.getEntries()) out->entries.emplace_back(entry);
  return out;
}

void write_splits_request(schema::LeaseSplits::Builder out, const splits_request& what) {
  out.setTaskId(what.task.value);
  out.setIncarnation(what.life.value);
  out.setJobId(what.job.value);
  const auto& [which, total, listing, closes, given] = what.wish;
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
  }
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
    out.wish.given = {in.getReadersVersion(), read_receipt(in.getGiven())};
  return out;
}

void write_splits_answer(schema::SplitsLeased::Builder out, const split_answer& what) {
  if (!what) {
    out.setExhausted();
    out.setAlone(what.over.alone);
    out.setRunning(what.over.running);
    return;
  }
  auto range = out.initRange();
  range.setFirst(what->first);
  range.setCount(what->count);
}

result<split_answer> read_splits_answer(schema::SplitsLeased::Reader in) {
  switch (in.which()) {
  case schema::SplitsLeased::RANGE:
    return split_answer{split_range{in.getRange().getFirst(), in.getRange().getCount()}};
  case schema::SplitsLeased::EXHAUSTED:
    return split_answer{pass_over{in.getAlone(), in.getRunning()}};
  }
  return unimplemented(
    fmt::format("answer number {} to a question for splits is not known to this build; its sender "
                "is newer",
                static_cast<uint16_t>(in.which())));
}

} // namespace headrace
