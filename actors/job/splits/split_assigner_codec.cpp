#include "headrace/actors/job/splits/split_assigner_codec.hpp"

#include "headrace/actors/protocol/codec/splits_codec.hpp"
#include "headrace/actors/store/stored_words.hpp"

#include <fmt/ranges.h>

#include <vector>

// Reads and writes the state of a split_assigner in job_record.capnp.

namespace headrace::detail {

namespace {

void write_ranges(::capnp::List<schema::SplitRange>::Builder out,
                  const std::deque<split_range>& what) {
  for (unsigned i = 0; i < out.size(); ++i) {
    out[i].setFirst(what[i].first);
    out[i].setCount(what[i].count);
  }
}

status read_ranges(::capnp::List<schema::SplitRange>::Reader in, std::deque<split_range>& out) {
  for (auto x : in) {
    HEADRACE_ASSIGN(const auto range, checked_range(x.getFirst(), x.getCount()));
    out.push_back(range);
  }
  return {};
}

} // namespace

void state_codec<split_assigner>::write(schema::SplitState::Builder out, const assigner& what) {
  out.setTasks(what.tasks_);
  out.setLeased(what.leased_);
  auto groups = out.initGroups(list_size(what.groups_));
  unsigned next = 0;
  for (const auto& [number, g] : what.groups_) {
    auto to = groups[next++];
    to.setNumber(number);
    to.setPassesOver(g.passes_over);
    auto sources = to.initSources(list_size(g.sources));
    for (unsigned i = 0; i < sources.size(); ++i) sources.set(i, g.sources[i]);
    auto tasks = to.initTasks(list_size(g.at));
    unsigned at = 0;
    for (const auto& [who, pass] : g.at) {
      auto one = tasks[at++];
      one.setTaskId(who.first.value);
      one.setSource(who.second);
      one.setPass(pass);
    }
  }
  auto passes = out.initPasses(list_size(what.passes_));
  next = 0;
  for (const auto& [where, pass] : what.passes_) write_pass(passes[next++], what, where, pass);
  size_t pieces = 0;
  for (const auto& [who, last] : what.answered_) pieces += last.pieces.size();
  auto answers = out.initAnswers(static_cast<unsigned>(pieces));
  next = 0;
  for (const auto& [who, last] : what.answered_)
    for (size_t i = 0; i < last.pieces.size(); ++i)
      write_lease(answers[next++],
                  {who.first, who.second, last.pass, last.number + i, last.pieces[i], i != 0});
}

void state_codec<split_assigner>::write_pass(schema::SplitState::Pass::Builder out,
                                             const assigner& from, const assigner::key& where,
                                             const assigner::pass_state& what) {
  out.setPass(where.first);
  out.setGroup(where.second);
  out.setKeeps(what.keeps);
  out.setRemnant(what.remnant);
  out.setShared(what.shared);
  out.setNext(what.next);
  if (what.total)
    out.getTotal().setSplits(*what.total);
  if (what.reader)
    out.getLastReader().setTask(what.reader->value);
  write_ranges(out.initReturned(list_size(what.returned)), what.returned);
  auto listings = out.initListings(list_size(what.listings));
  unsigned next = 0;
  for (const auto& [source, listing] : what.listings) {
    auto to = listings[next++];
    to.setSource(source);
    write_listing(to.initListing(), listing, true);
  }
  const auto holders = from.holdings_.find(where);
  if (holders == from.holdings_.end())
    return;
  out.setAsked(true);
  auto holdings = out.initHoldings(list_size(holders->second));
  next = 0;
  for (const auto& [who, holding] : holders->second) write_holding(holdings[next++], who, holding);
}

void state_codec<split_assigner>::write_holding(schema::SplitState::Holding::Builder out,
                                                task_id who, const assigner::holding& what) {
  out.setTaskId(who.value);
  write_ranges(out.initRanges(list_size(what.ranges)), what.ranges);
  out.setDropped(what.dropped);
  out.setEnd(what.end);
  auto given = out.initGiven(list_size(what.given));
  unsigned next = 0;
  for (const auto& [source, count] : what.given) {
    auto to = given[next++];
    to.setSource(source);
    to.setCount(count);
  }
  auto done = out.initDone(list_size(what.done));
  next = 0;
  for (auto source : what.done) done.set(next++, source);
}

result<split_assigner> state_codec<split_assigner>::read(schema::SplitState::Reader in,
                                                         assigner out) {
  out.tasks_ = in.getTasks();
  out.leased_ = in.getLeased();
  const auto groups = in.getGroups();
  for (auto from : groups) HEADRACE_TRY(read_group(from, out));
  if (groups.size() != out.groups_.size())
    return data_loss(fmt::format("{} groups of sources are there, and the job's plan has {}; a "
                                 "state of the same plan has each of them once",
                                 groups.size(), out.groups_.size()));
  for (auto from : in.getPasses()) HEADRACE_TRY(read_pass(from, out));
  for (auto from : in.getAnswers()) {
    HEADRACE_ASSIGN(const auto last, read_lease(from));
    if (!last.number)
      return data_loss(
        fmt::format("the last answer to task {} has no number", to_string(last.task)));
    const auto [at, fresh] = out.answered_.try_emplace({last.task, last.source});
    auto& all = at->second;
    if (fresh)
      all = {last.pass, *last.number, {}};
    else if (!last.continues || last.pass != all.pass
             || *last.number != all.number + all.pieces.size())
      return data_loss(fmt::format("task {} has two last answers for source {}",
                                   to_string(last.task), last.source));
    all.pieces.push_back(last.splits);
  }
  return out;
}

status state_codec<split_assigner>::read_group(schema::SplitState::Group::Reader in,
                                               assigner& out) {
  const auto number = in.getNumber();
  std::vector<uint32_t> sources;
  for (auto source : in.getSources()) sources.push_back(source);
  // A source that is not in the plan has a group of its own.
  const bool grouped = !sources.empty() && out.group_of(sources[0]) == number;
  if (!grouped || out.group(number, sources[0]).sources != sources)
    return data_loss(fmt::format("group {} has the sources [{}], and others in the job's plan; a "
                                 "state of the same plan would be right",
                                 number, fmt::join(sources, ", ")));
  auto& to = out.groups_.at(number);
  to.passes_over = in.getPassesOver();
  for (auto x : in.getTasks())
    if (!to.at.try_emplace({task_id{x.getTaskId()}, x.getSource()}, x.getPass()).second)
      return data_loss(fmt::format("task {} is twice at source {}",
                                   to_string(task_id{x.getTaskId()}), x.getSource()));
  return {};
}

status state_codec<split_assigner>::read_pass(schema::SplitState::Pass::Reader in, assigner& out) {
  const assigner::key where{in.getPass(), in.getGroup()};
  if (!out.groups_.contains(where.second))
    return data_loss(
      fmt::format("pass {} is one of group {}, which is not there", where.first, where.second));
  const auto [at, fresh] = out.passes_.try_emplace(where);
  if (!fresh)
    return data_loss(fmt::format("pass {} of group {} is there twice", where.first, where.second));
  auto& to = at->second;
  to.keeps = in.getKeeps();
  to.remnant = in.getRemnant();
  to.shared = in.getShared();
  to.next = in.getNext();
  const auto total = in.getTotal();
  switch (total.which()) {
  case schema::SplitState::Pass::Total::UNKNOWN: break;
  case schema::SplitState::Pass::Total::SPLITS: to.total = total.getSplits(); break;
  default: return unknown_stored("number of splits of kind", static_cast<unsigned>(total.which()));
  }
  const auto reader = in.getLastReader();
  switch (reader.which()) {
  case schema::SplitState::Pass::LastReader::NONE: break;
  case schema::SplitState::Pass::LastReader::TASK: to.reader = task_id{reader.getTask()}; break;
  default: return unknown_stored("reader of a pass", static_cast<unsigned>(reader.which()));
  }
  HEADRACE_TRY(read_ranges(in.getReturned(), to.returned));
  for (auto x : in.getListings())
    if (!to.listings.try_emplace(x.getSource(), *read_listing(x.getListing())).second)
      return data_loss(fmt::format("source {} has two listings", x.getSource()));
  if (!in.getAsked())
    return {};
  auto& holders = out.holdings_[where];
  for (auto from : in.getHoldings()) {
    const task_id who{from.getTaskId()};
    HEADRACE_ASSIGN(auto held, read_holding(from));
    if (!holders.try_emplace(who, std::move(held)).second)
      return data_loss(fmt::format("task {} has pass {} of group {} twice", to_string(who),
                                   where.first, where.second));
  }
  return {};
}

result<split_assigner::holding>
state_codec<split_assigner>::read_holding(schema::SplitState::Holding::Reader in) {
  assigner::holding out;
  HEADRACE_TRY(read_ranges(in.getRanges(), out.ranges));
  out.dropped = in.getDropped();
  out.end = in.getEnd();
  // A higher number would refer to ranges that do not exist.
  const auto most = out.dropped + out.ranges.size();
  if (most < out.dropped)
    return data_loss(fmt::format("{} ranges before {} others are more than can be", out.dropped,
                                 out.ranges.size()));
  for (auto x : in.getGiven()) {
    if (x.getCount() > most)
      return data_loss(
        fmt::format("source {} was told {} ranges of {}", x.getSource(), x.getCount(), most));
    if (!out.given.try_emplace(x.getSource(), x.getCount()).second)
      return data_loss(fmt::format("source {} was told ranges twice", x.getSource()));
  }
  for (auto source : in.getDone()) out.done.insert(source);
  return out;
}

} // namespace headrace::detail
