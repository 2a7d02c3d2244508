#include "headrace/actors/dispatcher/dispatcher_actor.hpp"
#include "headrace/actors/protocol/codec/envelope_parts.hpp"
#include "headrace/actors/protocol/codec/save_codec.hpp"
#include "headrace/runtime/metrics/metric_codec.hpp"
#include "headrace/runtime/supervision/codec.hpp"
#include "headrace/schemas/text.hpp"

#include <fmt/format.h>

#include <unistd.h>

namespace headrace::detail {

// The answer to GetStatus. No decision of the dispatcher depends on it.

caf::result<envelope> dispatcher_state::get_status(const envelope& in) {
  // The collection of the answers of all jobs. The last answer completes the status.
  struct gathering {
    std::vector<envelope> jobs;
    size_t missing = 0;
    caf::typed_response_promise<envelope> answer;
  };
  std::vector<job_handle> asked;
  for (const auto& [id, job] : core_.record().jobs())
    if (auto actor = actor_of(id))
      asked.push_back(std::move(actor));
  auto all = std::make_shared<gathering>();
  all->missing = asked.size();
  all->answer = self_->make_response_promise<envelope>();
  const auto complete = [this, all, request = in->getRequestId()] {
    all->answer.deliver(status_with(request, all->jobs));
  };
  auto promise = all->answer;
  if (asked.empty())
    complete();
  const auto heard = [all, complete] {
    if (--all->missing == 0)
      complete();
  };
  for (const auto& job : asked)
    port::request(self_, job, std::chrono::seconds{1}, in)
      .then(
        [all, heard](const envelope& answer) {
          all->jobs.push_back(answer);
          heard();
        },
        [heard](const caf::error&) { heard(); });
  return promise;
}

envelope dispatcher_state::status_with(uint64_t request, std::vector<envelope> jobs) const {
  // The rest of the report, such as workers' addresses and the dispatcher's own tree, is small and
  // fits into the last quarter of the message.
  constexpr auto most = max_message_bytes / 4 * 3;
  auto reports = reports_;
  const auto left_out = leave_out_what_is_too_large(reports, jobs, most);
  return make_dispatcher_answer(request, [&](schema::DispatcherMessage::Builder b) {
    auto out = b.initStatus();
    out.setUptimeNs(static_cast<uint64_t>((now() - started_).count()));
    out.setDatasets(static_cast<uint32_t>(core_.record().registered()));
    const auto counted = options_.metrics->read_counted();
    write_metrics(out.initMetrics(static_cast<unsigned>(counted.size())), counted);
    write_status(out, core_.workers(), reports, jobs, now());
    const auto entries = core_.roster().names();
    auto listed = out.initWorkerAddresses(static_cast<uint32_t>(entries.size()));
    for (uint32_t i = 0; i < listed.size(); ++i) {
      listed[i].setName(text_of(entries[i]));
      const auto& places = core_.record().places();
      if (const auto has = places.find(i); has != places.end()) {
        listed[i].setWorkerId(has->second.worker.value);
        listed[i].setDataAddress(text_of(has->second.data_address));
      }
    }
    const auto saves = core_.saves();
    auto listed_saves = out.initSaves(static_cast<uint32_t>(saves.size()));
    for (uint32_t i = 0; i < listed_saves.size(); ++i) write_save_view(listed_saves[i], saves[i]);
    out.setLeftOut(text_of(left_out));
    out.setWorkDir(text_of(options_.work_dir));
    out.setDiskTrouble(text_of(options_.disk ? options_.disk().message() : std::string{}));
    if (place_.board)
      out.setTree(data_of(encode({fmt::format("dispatcher, process {}", ::getpid()), options_.past,
                                  place_.board->roots()})
                            .bytes()));
  });
}

} // namespace headrace::detail
