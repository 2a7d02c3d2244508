#include "headrace/actors/dispatcher/save_table.hpp"

#include "headrace/runtime/base/utf8.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace headrace::detail {

void save_table::begin(const save_entry& what) {
  auto [at, fresh] = saves_.try_emplace(what.id);
  if (!fresh)
    return;
  at->second.what = what;
  // Readers of this save must not find the failure of an earlier one in the folder.
  std::erase_if(notes_, [&](const save_order& x) { return x.what.path == what.path; });
  // Versions begin at a number that depends on the table's `entropy`, so that they differ from
  // those that an earlier table gave to the save.
  at->second.now = {
    .id = what.id, .version = ++last_number_, .path = what.path, .dataset_id = what.dataset_id};
  order_.push_back(what.id);
}

const save_entry* save_table::into(const std::string& path) const {
  const auto at =
    std::ranges::find_if(saves_, [&](const auto& x) { return x.second.what.path == path; });
  return at != saves_.end() ? &at->second.what : nullptr;
}

std::optional<save_view> save_table::find(save_id id) const {
  const auto at = saves_.find(id);
  return at != saves_.end() ? std::optional{at->second.now} : std::nullopt;
}

std::vector<save_view> save_table::all() const {
  std::vector<save_view> out;
  for (auto id : order_) out.push_back(saves_.at(id).now);
  return out;
}

// -- available steps --------------------------------------------------------------------------

bool save_table::has_step(const save& of) noexcept {
  return of.now.state == save_state::writing ? !of.open.empty() : !of.now.over() && of.step_open;
}

bool save_table::is_suspect(const save& of) noexcept {
  if (!has_step(of))
    return false;
  return of.now.state == save_state::writing ? of.lost.contains(*of.open.begin())
                                             : of.lost_steps.has_value();
}

bool save_table::repeats_lost_step(worker_id worker) const {
  return std::ranges::any_of(saves_, [&](const auto& x) {
    const auto& [id, one] = x;
    const auto has = one.out.find(worker);
    if (has == one.out.end())
      return false;
    const auto* piece = std::get_if<piece_step>(&has->second.step);
    return piece != nullptr ? one.lost.contains(piece->piece) : one.lost_steps.has_value();
  });
}

std::optional<save_step> save_table::next_of(save& of) {
  if (!has_step(of))
    return std::nullopt;
  if (of.now.state == save_state::writing)
    // Pieces are assigned in ascending order, for clients that read the dataset while it is being
    // written.
    return piece_step{of.open.extract(of.open.begin()).value()};
  of.step_open = false;
  return of.now.state == save_state::planning ? save_step{plan_step{}} : save_step{finish_step{}};
}

size_t save_table::busy_with(worker_id worker) const {
  return static_cast<size_t>(
    std::ranges::count_if(saves_, [&](const auto& x) { return x.second.out.contains(worker); }));
}

bool save_table::has_step_for(worker_id worker) const {
  return !notes_.empty()
         || (busy_with(worker) < most_a_worker_ && std::ranges::any_of(saves_, [&](const auto& x) {
               return has_step(x.second) && !x.second.out.contains(worker);
             }));
}

size_t save_table::open_steps() const {
  size_t out = 0;
  for (const auto& [id, one] : saves_)
    out += one.now.state == save_state::writing ? one.open.size() : size_t{has_step(one)};
  return out;
}

// -- requests and reports of workers --------------------------------------------------------

save_steps save_table::ask(worker_id worker, const std::string& who, const save_question& what,
                           uint32_t workers) {
  for (const auto& report : what.reports)
    if (const auto at = saves_.find(report.id); at != saves_.end())
      take(at->second, worker, who, report);
  save_steps out;
  const auto works_on = [&](save_id id) {
    return std::ranges::find(what.running, id, &save_question::working::id);
  };
  for (const auto& one : what.running) {
    const auto at = saves_.find(one.id);
    // The save may be over, or the step may be assigned to another worker. Two workers that do the
    // same step do no harm, because the folder accepts only one result, but one of them works in
    // vain.
    if (at == saves_.end() || at->second.now.over() || !at->second.out.contains(worker)
        || at->second.out.at(worker).number != one.number)
      out.over.push_back(one.id);
  }
  for (auto& [id, one] : saves_) {
    // If the worker does not work on the step that it has, the answer with the order was lost.
    const auto has = one.out.find(worker);
    if (has != one.out.end() && works_on(id) == what.running.end()) {
      const auto step = std::move(has->second.step);
      one.out.erase(has);
      reopen(one, step, step_loss::none);
    }
  }
  if (what.takes && !notes_.empty()) {
    out.orders.push_back(std::move(notes_.back()));
    notes_.pop_back();
  }
  auto busy = busy_with(worker);
  const bool alone = repeats_lost_step(worker) || std::ranges::any_of(saves_, [](const auto& x) {
                       return is_suspect(x.second);
                     });
  for (auto id : order_) {
    auto& one = saves_.at(id);
    // A step that was lost with its worker may be the reason why that worker ended. It is repeated
    // by a worker that has no other step, so that the loss of that worker is counted for this step
    // alone.
    if (!what.takes || busy >= (alone ? 1 : most_a_worker_))
      break;
    if (one.out.contains(worker) || works_on(id) != what.running.end()
        || (alone && !is_suspect(one)))
      continue;
    auto step = next_of(one);
    if (!step)
      continue;
    ++busy;
    one.out[worker] = {++last_number_, *step};
    one.now.workers = static_cast<uint32_t>(one.out.size());
    changed(one);
    out.orders.push_back({one.what, last_number_, one.plan, workers, *step});
  }
  drop_ended();
  return out;
}

void save_table::take(save& of, worker_id worker, const std::string& who, const save_report& what) {
  const auto at = of.out.find(worker);
  // A late report is ignored: another worker has the step or will get it, and will find that the
  // step is done.
  if (at == of.out.end() || at->second.number != what.number || of.now.over())
    return;
  const auto step = at->second.step;
  of.out.erase(at);
  of.now.workers = static_cast<uint32_t>(of.out.size());
  changed(of);
  if (std::holds_alternative<step_given_back>(what.how))
    return reopen(of, step, step_loss::none);
  if (const auto* why = std::get_if<status>(&what.how))
    return end(of, save_state::failed,
               why->ok() ? internal_error("a worker reported a failure that is none")
                         : why->with_context(who));
  if (const auto* done = std::get_if<save_planned>(&what.how);
      done != nullptr && std::holds_alternative<plan_step>(step))
    return done->whole ? (planned(of, *done), end(of, save_state::saved, {})) : planned(of, *done);
  if (const auto* done = std::get_if<piece_written>(&what.how);
      done != nullptr && std::holds_alternative<piece_step>(step)) {
    of.lost.erase(std::get<piece_step>(step).piece);
    ++of.now.written;
    of.now.amount.rows += done->what.rows;
    of.now.amount.bytes += done->what.bytes;
    if (of.now.written == of.now.pieces) {
      of.now.state = save_state::finishing;
      of.step_open = true;
    }
    return;
  }
  if (const auto* done = std::get_if<save_finished>(&what.how);
      done != nullptr && std::holds_alternative<finish_step>(step)) {
    of.now.amount = done->what;
    return end(of, save_state::saved, {});
  }
  reopen(of, step, step_loss::none); // the report does not fit the step
}

void save_table::planned(save& of, const save_planned& what) {
  of.plan = what.plan;
  of.lost_steps.reset();
  of.now.pieces = what.there.size();
  of.now.amount = what.written;
  of.now.whole_because = what.whole_because;
  of.open.clear();
  for (size_t i = 0; i < what.there.size(); ++i)
    if (!what.there[i])
      of.open.insert(i);
  of.now.written = of.now.pieces - of.open.size();
  of.now.state = of.open.empty() ? save_state::finishing : save_state::writing;
  of.step_open = of.open.empty();
}

void save_table::reopen(save& of, const save_step& what, step_loss how) {
  const auto* piece = std::get_if<piece_step>(&what);
  if (piece != nullptr)
    of.open.insert(piece->piece);
  else
    of.step_open = true;
  of.now.workers = static_cast<uint32_t>(of.out.size());
  changed(of);
  if (how == step_loss::none)
    return;
  if (piece == nullptr && !of.lost_steps)
    of.lost_steps = 0;
  auto& times = piece != nullptr ? of.lost[piece->piece] : *of.lost_steps;
  times += how == step_loss::only_step;
  if (times < most_losses)
    return;
  const auto why = aborted(fmt::format(
    "{} workers were lost one after another while they {}: it may take more memory than "
    "they have, or crash them; see their logs",
    times,
    piece != nullptr ? fmt::format("wrote piece {}", piece->piece)
                     : std::string{"looked at its folder"}));
  if (of.plan != 0)
    notes_.push_back({of.what, ++last_number_, of.plan, 1, note_step{why}});
  end(of, save_state::failed, why);
}

void save_table::worker_left(worker_id worker) { reopen_all(worker, step_loss::none); }

void save_table::worker_lost(worker_id worker) {
  reopen_all(worker, busy_with(worker) == 1 ? step_loss::only_step : step_loss::one_of_several);
}

void save_table::reopen_all(worker_id worker, step_loss how) {
  for (auto& [id, one] : saves_) {
    const auto has = one.out.extract(worker);
    if (has && !one.now.over())
      reopen(one, has.mapped().step, how);
  }
  drop_ended();
}

// -- ends -----------------------------------------------------------------------------------

void save_table::end(save& of, save_state how, status why) {
  // Many failures may be kept (`service_record::most_ended_saves`), so each text is bounded.
  constexpr size_t most_text = 4096;
  if (why.message().size() > most_text)
    why = {why.code(), std::string{utf8_prefix(why.message(), most_text)} + " ..."};
  of.now.state = how;
  of.now.failure = std::move(why);
  of.now.workers = 0;
  changed(of);
}

void save_table::drop_ended() {
  std::erase_if(order_, [&](save_id id) {
    const auto at = saves_.find(id);
    if (!at->second.now.over())
      return false;
    ended_.push_back(std::move(at->second.now));
    saves_.erase(at);
    return true;
  });
}

std::vector<save_view> save_table::take_ended() { return std::exchange(ended_, {}); }

} // namespace headrace::detail
