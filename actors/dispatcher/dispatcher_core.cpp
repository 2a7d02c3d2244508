#include "headrace/actors/dispatcher/dispatcher_core.hpp"

namespace headrace {

dispatcher_core::dispatcher_core(const service_terms& terms, service_record record,
                                 uint64_t entropy)
  : terms_(terms),
    record_(std::move(record)),
    workers_(terms.timing, record_.last_worker()),
    entropy_(entropy) {}

dispatcher_commands dispatcher_core::start() {
  const auto jobs = record_.jobs();
  for (const auto& [id, job] : jobs)
    if (auto about = describe(job))
      todo_.push_back(dispatcher_command::run_job{*std::move(about)});
    else
      forget_job(id, about.status().with_context("the dispatcher was started again"), {});
  return finish();
}

// -- what events have in common -----------------------------------------------------------

void dispatcher_core::commit(service_record::fact what) {
  record_.apply(what);
  dispatcher_command::store out;
  out.facts.push_back(std::move(what));
  todo_.push_back(std::move(out));
}

void dispatcher_core::say(log_level level, std::string text,
                          std::vector<std::pair<std::string, log_line::value>> fields) {
  todo_.push_back(dispatcher_command::log{level, std::move(text), std::move(fields)});
}

void dispatcher_core::answer(request_token to, answer_value what) {
  todo_.push_back(dispatcher_command::answer{to, std::move(what)});
}

// -- datasets -----------------------------------------------------------------------------

dispatcher_commands dispatcher_core::register_dataset(request_token request,
                                                      dataset_registration wanted) {
  const auto id = enroll(std::move(wanted));
  if (id)
    answer(request, dataset_def{.id = *id});
  else
    answer(request, id.status());
  return finish();
}

result<std::string> dispatcher_core::enroll(dataset_registration wanted) {
  if (wanted.fingerprint.empty())
    return invalid_argument("a dataset is registered with its fingerprint");
  if (!disk_)
    return disk_.with_context("no dataset is registered now");
  const bool known = record_.datasets().with_fingerprint(wanted.fingerprint) != nullptr;
  if (!known && wanted.graph.empty())
    return not_found("no dataset of that fingerprint is registered");
  dataset_record kept{{}, {}, std::move(wanted.fingerprint)};
  if (!known) { // Kept once.
    kept.graph = std::move(wanted.graph);
    kept.spec = std::move(wanted.spec);
  }
  HEADRACE_ASSIGN(auto id, record_.datasets().id_for(wanted.id, kept));
  commit(service_record::dataset_registered{id, std::move(kept),
                                            wanted.for_iteration && wanted.id.empty()});
  return id;
}

dispatcher_commands dispatcher_core::get_dataset(request_token request, const std::string& id) {
  const auto found = record_.datasets().find(id);
  if (found)
    answer(request, dataset_def{id, (*found)->graph, (*found)->spec, (*found)->fingerprint});
  else
    answer(request, found.status());
  return finish();
}

} // namespace headrace
