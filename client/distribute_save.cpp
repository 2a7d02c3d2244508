#include "headrace/client/distribute_save.hpp"

#include "headrace/actors/protocol/codec/dataset_codec.hpp"
#include "headrace/actors/protocol/codec/save_codec.hpp"
#include "headrace/actors/protocol/large_graph.hpp"
#include "headrace/client/internal/save_reading.hpp"
#include "headrace/client/internal/service_call.hpp"
#include "headrace/pipeline/makers/dataset_makers.hpp"
#include "headrace/pipeline/storage/saved_manifest.hpp"
#include "headrace/runtime/base/ids.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace headrace {
using namespace detail;

namespace {

result<save_status> status_in(const result<envelope>& answer) {
  if (!answer)
    return answer.status();
  HEADRACE_ASSIGN(const auto said,
                  dispatcher_answer(*answer, schema::DispatcherMessage::SAVE_STATUS));
  HEADRACE_ASSIGN(const auto view, read_save_view(said.getSaveStatus()));
  return service::to_public(view);
}

service::target target_of(const distribute_save_options& options) {
  return {options.service, options.session.state()};
}

service::waiting waits(const distribute_save_options& options, duration limit) {
  return {.limit = limit, .option = "worker_timeout", .stop = options.stop};
}

result<save_status> begin(save_request what, const distribute_save_options& options) {
  const auto ask = [&](const save_request& request) {
    return status_in(service::call(target_of(options), waits(options, options.worker_timeout),
                                   make_envelope(random_id(), [&](schema::Envelope::Builder b) {
                                     write_save_request(b.initDispatcher().initSaveDataset(),
                                                        request);
                                   })));
  };
  if (what.dataset.graph.size() >= large_graph) {
    // A large graph (one with captured arrays) is sent only if the dispatcher does not have it: the
    // first request contains just its fingerprint.
    auto known = what;
    known.dataset.graph = {};
    auto out = ask(known);
    if (out || out.status().code() != status_code::not_found)
      return out;
  }
  return ask(what);
}

result<save_status> begin(const dataset& what, const std::string& folder,
                          const distribute_save_options& options) {
  if (folder.empty())
    return invalid_argument("path is empty; it must name a folder that all workers see");
  if (what.cardinality() == infinite_cardinality)
    return invalid_argument("the dataset never ends; take(n) of it first");
  HEADRACE_TRY(check_writes_nothing(what.node()));
  std::error_code failed;
  const auto path = std::filesystem::absolute(folder, failed);
  if (failed)
    return invalid_argument(fmt::format("path is '{}': {}", folder, failed.message()));
  HEADRACE_ASSIGN(auto dataset, service::registration_of(what.node()));
  return begin(
    save_request{std::move(dataset), path.string(), std::string{to_string(options.compression)}},
    options);
}

/// True if there are workers that could work on the save, even if they are busy with other saves.
bool has_workers(const distribute_save_options& options) {
  const auto now = get_service_status(options.service, std::chrono::seconds{5}, options.session);
  return now
         && std::ranges::any_of(now->workers, [](const auto& x) { return x.alive && !x.draining; });
}

status too_late(const save_status& known, const distribute_save_options& options, bool busy) {
  if (!busy)
    return unavailable(fmt::format(
      "no worker has worked on saving '{}' for {:g} s (worker_timeout): the service may "
      "have none; the save begins when one comes",
      known.path, in_seconds(options.worker_timeout)));
  return deadline_exceeded(fmt::format(
    "workers were there for '{}' for {:g} s, and no piece was done (stall_timeout); {} of {} "
    "are; the save goes on",
    known.path, in_seconds(options.stall_timeout), known.written, known.pieces));
}

} // namespace

result<save_status> await_change(const dataset& what, const save_status& known,
                                 const distribute_save_options& options) {
  const auto now = [] { return clock::system().now(); };
  const auto began = now();
  auto until = began + (known.workers == 0 ? options.worker_timeout : options.stall_timeout);
  bool busy = known.workers != 0;
  const auto question = make_envelope(random_id(), [&](schema::Envelope::Builder b) {
    auto out = b.initDispatcher().initAwaitSave();
    out.setSaveId(known.save);
    out.setVersion(known.version);
  });
  for (;;) {
    const auto left =
      std::min(std::max(until - now(), duration{1'000'000}), options.worker_timeout);
    auto out = status_in(service::call(target_of(options), waits(options, left), question));
    const auto code = out.status().code();
    if (code == status_code::not_found)
      // The dispatcher has lost its state. The save is requested again, and continues with the
      // pieces that are in the folder.
      return begin(what, known.path, options);
    // Answers are sent when the state changes, so a living dispatcher may send none within the
    // limit.
    if (code != status_code::deadline_exceeded)
      return out;
    if (now() < until)
      continue;
    if (busy || !has_workers(options))
      return too_late(known, options, busy);
    busy = true;
    until = began + options.stall_timeout;
    if (now() >= until)
      return too_late(known, options, busy);
  }
}

save_status distribute_save(const dataset& what, const std::string& folder,
                            const distribute_save_options& options) {
  const auto failed = [](const status& why) { return error{why.with_context("distribute_save")}; };
  auto out = begin(what, folder, options);
  for (;;) {
    if (!out)
      throw failed(out.status());
    if (!options.wait)
      return *std::move(out);
    if (options.on_progress)
      options.on_progress(*out);
    if (!out->failure.ok())
      throw failed(out->failure);
    if (out->state == "saved")
      return *std::move(out);
    out = await_change(what, *out, options);
  }
}

} // namespace headrace
