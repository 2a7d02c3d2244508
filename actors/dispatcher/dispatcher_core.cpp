#include "headrace/actors/dispatcher/dispatcher_core.hpp"
#include "headrace/pipeline/graph_codec/graph_codec.hpp"

#include <fmt/format.h>

namespace headrace::detail {

dispatcher_core::dispatcher_core(const service_terms& terms, service_record record,
                                 uint64_t entropy)
  : terms_(terms),
    record_(std::move(record)),
    workers_(terms.timing, record_.last_worker()),
    entropy_(entropy),
    saves_(terms.saves_a_worker, entropy) {}

dispatcher_commands dispatcher_core::start(time_point now) {
  began_ = now;
  for (const auto& [id, save] : record_.saves()) saves_.begin(save);
  const auto jobs = record_.jobs();
  for (const auto& [id, job] : jobs)
    if (auto about = describe(job))
      todo_.push_back(dispatcher_command::run_job{*std::move(about)});
    else
      forget_job(id, about.status().with_context("the dispatcher was started again"), {}, {});
  return finish();
}

// -- shared by events ---------------------------------------------------------------------

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
  auto known = enroll(std::move(wanted));
  if (known)
    answer(request, *std::move(known));
  else
    answer(request, known.status());
  return finish();
}

result<dataset_def> dispatcher_core::enroll(dataset_registration wanted) {
  if (wanted.fingerprint.empty())
    return invalid_argument("a dataset is registered with its fingerprint");
  if (!disk_)
    return disk_.with_context("no dataset is registered now");
  const auto& all = record_.datasets();
  const auto* known = all.with_fingerprint(wanted.fingerprint);
  if (known == nullptr && wanted.graph.empty())
    return not_found("no dataset of that fingerprint is registered");
  if (const auto taken = all.find(wanted.id);
      !wanted.id.empty() && taken && (*taken)->fingerprint != wanted.fingerprint) {
    if (known != nullptr)
      wanted.graph = known->graph;
    return join(wanted.id, **taken, wanted);
  }
  if (!wanted.for_iteration)
    HEADRACE_TRY(record_.has_room_for(wanted));
  dataset_record kept{{}, {}, std::move(wanted.fingerprint)};
  if (known == nullptr) { // a graph is kept once
    kept.graph = std::move(wanted.graph);
    kept.spec = std::move(wanted.spec);
  }
  HEADRACE_ASSIGN(auto id, all.id_for(wanted.id, kept));
  commit(service_record::dataset_registered{id, std::move(kept),
                                            wanted.for_iteration && wanted.id.empty()});
  return dataset_def{.id = std::move(id)};
}

namespace {

/// The properties of a graph on which readers of a dataset rely. Two graphs with equal properties
/// can be used in place of each other.
std::string structure_of(const dataset_node& graph) {
  return fmt::format("{}, {}", to_string(graph.spec),
                     graph.cardinality == infinite_cardinality  ? "without end"
                     : graph.cardinality == unknown_cardinality ? "of unknown size"
                                                                : "of finite size");
}

} // namespace

result<dataset_def> dispatcher_core::join(const std::string& id, const dataset_record& taken,
                                          const dataset_registration& wanted) {
  HEADRACE_ASSIGN(const auto present, decode_graph(taken.graph));
  HEADRACE_ASSIGN(const auto asked, decode_graph(wanted.graph));
  const auto has = structure_of(*present);
  const auto gives = structure_of(*asked);
  if (has != gives)
    return already_exists(
      fmt::format("dataset id '{}' is taken by a dataset of another structure: it gives {}, and "
                  "this one gives {}; choose another id, or register the same structure",
                  id, has, gives));
  auto warning =
    fmt::format("dataset id '{}' is taken by another graph of the same structure ({}): "
                "consumers of that id get the elements of the dataset that was "
                "registered first",
                id, has);
  say(log_level::warn, "a dataset id was registered again with another graph", {{"dataset", id}});
  return dataset_def{.id = id, .warning = std::move(warning)};
}

dispatcher_commands dispatcher_core::get_dataset(request_token request, const std::string& id) {
  const auto found = record_.datasets().find(id);
  if (found)
    answer(request, dataset_def{id, (*found)->graph, (*found)->spec, (*found)->fingerprint});
  else
    answer(request, found.status());
  return finish();
}

} // namespace headrace::detail
