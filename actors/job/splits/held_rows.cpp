#include "headrace/actors/job/splits/held_rows.hpp"

#include <algorithm>

namespace headrace::detail {

void held_rows::apply(const fact& what) {
  std::visit([this](const auto& x) { on(x); }, what);
}

void held_rows::on(const task_over& x) {
  for (const auto& [who, at] : x.readers)
    if (at.handed_out < at.received)
      held_[x.task][who] = at;
}

void held_rows::on(const handed_out& x) {
  const auto of = held_.find(x.task);
  if (of == held_.end())
    return;
  const auto at = of->second.find(x.who);
  if (at == of->second.end())
    return;
  at->second.handed_out = std::max(at->second.handed_out, x.elements);
  if (at->second.handed_out >= at->second.received)
    of->second.erase(at);
  if (of->second.empty())
    held_.erase(of);
}

void held_rows::on(const reader_gone& x) {
  for (auto& [task, readers] : held_)
    if (const auto at = readers.find(x.who); at != readers.end()) {
      lost_ += at->second.received - at->second.handed_out;
      readers.erase(at);
    }
  std::erase_if(held_, [](const auto& entry) { return entry.second.empty(); });
}

std::vector<task_id> held_rows::tasks() const {
  std::vector<task_id> out;
  for (const auto& [task, readers] : held_) out.push_back(task);
  return out;
}

std::vector<task_id> held_rows::tasks_of(consumer_id who) const {
  std::vector<task_id> out;
  for (const auto& [task, readers] : held_)
    if (readers.contains(who))
      out.push_back(task);
  return out;
}

const reader_marks* held_rows::find(task_id task, consumer_id who) const {
  const auto of = held_.find(task);
  if (of == held_.end())
    return nullptr;
  const auto at = of->second.find(who);
  return at == of->second.end() ? nullptr : &at->second;
}

} // namespace headrace::detail
