#include "tests/actors/world/worker_process.hpp"
#include "tests/actors/world/world.hpp"

namespace headrace::detail::test {

// The work of a worker for saves into the folder of the world.

void worker_process::saves_offered() { carry_out(core_->saves_offered()); }

void worker_process::carry_out(const worker::ask_save_steps& what) {
  auto& d = world_.dispatcher;
  request(
    dispatcher_->get(), what.limit,
    [this, &d, what](replier reply) {
      d.ask_save_steps(what, [this, what, reply](const result<save_steps>& answer) {
        reply(
          [this, what, answer] { carry_out(core_->save_steps_answered(what.connection, answer)); });
      });
    },
    [this, over = what.connection] {
      carry_out(core_->save_steps_answered(over, deadline_exceeded("no answer")));
    });
}

void worker_process::carry_out(const worker::run_save& what) {
  const auto& order = what.what;
  if (saves_.contains(order.what.id))
    world_.folder.wrong.push_back(name() + " takes two steps of a save at a time");
  saves_[order.what.id] = order.number;
  after(time_.between(duration{1000}, options_.per_step), [this, order] {
    // A step that was stopped may still reach its end.
    const auto at = saves_.find(order.what.id);
    const bool wanted = at != saves_.end() && at->second == order.number;
    if (!wanted && time_.one_in(2))
      return;
    auto how = take_step(order);
    if (!wanted)
      return;
    saves_.erase(at);
    after_hop([this, how = std::move(how)] { carry_out(core_->save_step_ended(how)); });
  });
}

void worker_process::carry_out(const worker::stop_save& what) { saves_.erase(what.id); }

save_report worker_process::take_step(const save_order& what) {
  auto& folder = world_.folder;
  save_report out{what.what.id, what.number, step_given_back{}};
  if (const auto* piece = std::get_if<piece_step>(&what.step)) {
    if (what.plan != folder.plan || piece->piece >= folder.pieces)
      folder.wrong.push_back("a piece of another plan is written");
    ++folder.writes;
    folder.there.insert(piece->piece);
    out.how = piece_written{{10, 100}};
  } else if (std::holds_alternative<note_step>(what.step)) {
    return out;
  } else if (std::holds_alternative<finish_step>(what.step)) {
    if (folder.there.size() != folder.pieces) {
      folder.wrong.push_back("it is to be finished before all pieces are there");
      out.how = failed_precondition("a piece is missing");
      return out;
    }
    ++folder.finishes;
    out.how = save_finished{{10 * folder.pieces, 100 * folder.pieces}};
  } else {
    if (folder.plan == 0)
      folder.plan = time_.below(UINT64_MAX) | 1;
    save_planned planned{.plan = folder.plan,
                         .there = std::vector<bool>(folder.pieces),
                         .whole = folder.finishes != 0,
                         .whole_because = {},
                         .written = {10 * folder.there.size(), 100 * folder.there.size()}};
    for (auto i : folder.there) planned.there[i] = true;
    out.how = std::move(planned);
  }
  return out;
}

} // namespace headrace::detail::test
