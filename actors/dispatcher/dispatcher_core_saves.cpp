#include "headrace/actors/dispatcher/dispatcher_core.hpp"

#include "headrace/pipeline/iterator/counter_random.hpp"
#include "headrace/pipeline/storage/saved_manifest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace headrace::detail {

// The functions for requests to save datasets into folders. The save table decides the next steps.

namespace {

/// The path without `.` and without repeated or trailing slashes, so that equal folders have equal
/// texts. `..` is kept, because it may come after a symbolic link. The path must be absolute.
result<std::string> folder_of(const std::string& path) {
  constexpr size_t longest = 4096;
  if (path.empty() || path.front() != '/' || path.size() > longest
      || path.find('\0') != std::string::npos)
    return invalid_argument(
      fmt::format("path is '{:.100}'; it must name a folder, from the root ('/...'), as all "
                  "workers see it",
                  path));
  std::string out;
  for (const auto& part : std::filesystem::path{path}.relative_path())
    if (!part.empty() && part != ".")
      out += "/" + part.string();
  return out.empty() ? "/" : out;
}

} // namespace

dispatcher_commands dispatcher_core::save_dataset(request_token request, save_request wanted) {
  auto begun = begin_save(std::move(wanted));
  if (begun)
    answer(request, *std::move(begun));
  else
    answer(request, begun.status());
  return finish();
}

result<save_view> dispatcher_core::begin_save(save_request wanted) {
  HEADRACE_ASSIGN(auto path, folder_of(wanted.path));
  HEADRACE_TRY(saved_compression_of(wanted.compression).status());
  if (const auto* runs = saves_.into(path)) {
    if (runs->fingerprint != wanted.dataset.fingerprint)
      return already_exists(
        fmt::format("'{}' is being written with another dataset ({}); name another folder", path,
                    runs->dataset_id));
    if (saved_compression_of(runs->compression).value()
        != saved_compression_of(wanted.compression).value())
      return already_exists(fmt::format("'{}' is being written with compression {}, and not {}",
                                        path, runs->compression, wanted.compression));
    return *saves_.find(runs->id);
  }
  if (saves_.size() >= save_table::most_saves)
    return resource_exhausted(
      fmt::format("{} datasets are being saved, and no more are at a time", saves_.size()));
  const auto fingerprint = wanted.dataset.fingerprint;
  // The dataset gets an id that only this save uses, and that is removed some time after the save.
  wanted.dataset.id.clear();
  wanted.dataset.for_iteration = true;
  HEADRACE_ASSIGN(const auto dataset, enroll(std::move(wanted.dataset)));
  save_entry what{save_id{mix(entropy_, ++drawn_)}, std::move(path), dataset.id, fingerprint,
                  std::move(wanted.compression)};
  say(log_level::info, "save begins", {{"path", what.path}, {"dataset", what.dataset_id}});
  commit(service_record::save_begun{what});
  saves_.begin(what);
  offer_saves();
  return *saves_.find(what.id);
}

std::optional<save_view> dispatcher_core::save_of(save_id id) const {
  if (auto running = saves_.find(id))
    return running;
  const auto& over = record_.ended_saves();
  const auto at = std::ranges::find(over, id, &save_view::id);
  return at != over.end() ? std::optional{*at} : std::nullopt;
}

std::vector<save_view> dispatcher_core::saves() const {
  auto out = saves_.all();
  const auto& over = record_.ended_saves();
  out.insert(out.begin(), over.begin(), over.end());
  return out;
}

dispatcher_commands dispatcher_core::await_save(request_token request, save_id id,
                                                uint64_t version) {
  const auto now = save_of(id);
  if (!now) {
    answer(request, not_found(fmt::format(
                      "this dispatcher knows no save {} (any more); to save the dataset into "
                      "the same folder again goes on with it",
                      to_string(id))));
  } else if (now->over() || now->version != version) {
    answer(request, *now);
  } else {
    awaited_saves_.push_back({request, id, version});
    todo_.push_back(dispatcher_command::watch_asker{request});
  }
  return finish();
}

dispatcher_commands dispatcher_core::ask_save_steps(request_token request, worker_id who,
                                                    incarnation life, const save_question& what) {
  const auto at = workers_.all().find(who);
  if (at == workers_.all().end() || !at->second.alive || at->second.info.life != life) {
    answer(request,
           not_found(fmt::format("worker {} is not registered (any more)", to_string(who))));
    return finish();
  }
  const auto before = saves_.open_steps();
  auto wanted = what;
  if (at->second.info.draining)
    wanted.takes = false;
  answer(request,
         saves_.ask(who,
                    fmt::format("worker {} at {}", to_string(who), at->second.info.data_address),
                    wanted, static_cast<uint32_t>(workers_.ready())));
  // If a dataset was divided into pieces, there may be steps for all workers.
  if (saves_.open_steps() > before)
    offer_saves();
  look_at_saves();
  return finish();
}

void dispatcher_core::offer_saves() {
  for (const auto& who : workers_.alive())
    if (!who.draining && saves_.has_step_for(who.id))
      todo_.push_back(dispatcher_command::offer_saves{who.id});
}

void dispatcher_core::look_at_saves() {
  for (auto& one : saves_.take_ended()) {
    if (one.failure.ok())
      say(log_level::info, "save is done", {{"path", one.path}, {"elements", one.amount.rows}});
    else
      say(log_level::error, "save failed", {{"path", one.path}, {"why", to_string(one.failure)}});
    commit(service_record::save_ended{std::move(one)});
  }
  std::erase_if(awaited_saves_, [&](const waiting_for_save& one) {
    const auto now = save_of(one.id);
    if (now && now->version == one.version)
      return false;
    if (now)
      answer(one.request, *now);
    else
      answer(one.request, not_found("the save is not known any more"));
    return true;
  });
}

} // namespace headrace::detail
