#include "headrace/client/internal/service_client.hpp"

#include "headrace/actors/protocol/codec/dataset_codec.hpp"
#include "headrace/actors/protocol/large_graph.hpp"
#include "headrace/client/internal/service_call.hpp"
#include "headrace/client/internal/service_node.hpp"
#include "headrace/client/internal/service_session.hpp"
#include "headrace/client/service_status.hpp"
#include "headrace/pipeline/graph/graph_options.hpp"
#include "headrace/pipeline/graph_codec/graph_codec.hpp"
#include "headrace/runtime/base/ids.hpp"
#include "headrace/runtime/node/caf_access.hpp"
#include "headrace/runtime/node/caf_connect.hpp"
#include "headrace/runtime/node/first_contact.hpp"
#include "headrace/runtime/supervision/backoff.hpp"
#include "headrace/schemas/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <unistd.h>

namespace headrace::detail::service {

result<std::shared_ptr<node>> node_with(const tls_options& tls) {
  HEADRACE_ASSIGN(auto here, node::process(service_node(node_role::consumer, tls)));
  const auto& present = here->options().tls;
  if (present.certificate != tls.certificate || present.key != tls.key
      || present.ca_file != tls.ca_file)
    return failed_precondition(
      fmt::format("this program connects to services {} at the moment, and cannot {} as well: a "
                  "secure_session comes before all else that uses a service",
                  present.enabled() ? "with the certificate " + present.certificate : "without TLS",
                  tls.enabled() ? "with the certificate " + tls.certificate : "without TLS"));
  return here;
}

logger log_of(const node& here) {
  if (here.log().enabled(log_level::warn))
    return here.log();
  static const auto terminal =
    ::isatty(STDERR_FILENO) != 0 ? logger::open({.level = log_level::warn}).value() : logger{};
  return terminal;
}

result<std::string> named(const std::string& given, std::string_view argument) {
  if (!given.empty())
    return given;
  const auto* known = std::getenv("HEADRACE_SERVICE");
  if (known == nullptr || *known == '\0')
    return invalid_argument(fmt::format(
      "{}: no address is given, and the environment variable HEADRACE_SERVICE is not set; "
      "host:port of the dispatcher would be right for either, e.g. 127.0.0.1:4000",
      argument));
  if (auto where = parse_address(known); !where)
    return where.status().with_context("HEADRACE_SERVICE");
  return std::string{known};
}

namespace {

result<envelope> ask_dispatcher(node& here, const address& where, const published_actor& whom,
                                duration limit, const envelope& what) {
  auto out = ask(here, whom, what, limit);
  if (!out && out.status().code() == status_code::unavailable)
    return out.status().with_context("dispatcher at " + to_string(where));
  return out;
}

/// Waits for the time `length`. False: `stop` ended the wait earlier.
bool pause_for(duration length, const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock{mutex};
  never.wait_for(lock, stop, length, [] { return false; });
  return !stop.stop_requested();
}

} // namespace

result<envelope> call(const target& dispatcher, duration limit, const envelope& what) {
  HEADRACE_ASSIGN(const auto known, named(dispatcher.address));
  HEADRACE_ASSIGN(auto where, parse_address(known));
  HEADRACE_ASSIGN(auto session, service_session::of(dispatcher.session));
  HEADRACE_ASSIGN(auto to, connect(*session.here, where, limit));
  return ask_dispatcher(*session.here, where, to.actor, limit, what);
}

result<envelope> call(const target& dispatcher, const waiting& how, const envelope& what) {
  constexpr duration attempt = std::chrono::seconds{5}, longest = std::chrono::milliseconds{500};
  HEADRACE_ASSIGN(const auto known, named(dispatcher.address));
  HEADRACE_ASSIGN(auto where, parse_address(known));
  HEADRACE_ASSIGN(auto session, service_session::of(dispatcher.session));
  const auto now = [] { return clock::system().now(); };
  first_contact contact{to_string(where), how.option, how.limit, now()};
  backoff pauses{{.first = std::chrono::milliseconds{50}, .longest = longest}, random_id()};
  for (;;) {
    const auto left = [&] { return std::max(contact.until() - now(), duration{1'000'000}); };
    auto to = connect(*session.here, where, std::min(left(), attempt));
    if (to) {
      // A single request does not use all of the remaining time: the dispatcher may be restarted,
      // and the request is then repeated.
      auto answer =
        ask_dispatcher(*session.here, where, to->actor, std::min(left(), attempt), what);
      const auto code = answer.status().code();
      if (code == status_code::deadline_exceeded) {
        if (now() >= contact.until())
          return status{code, contact.late().message()};
        if (how.stop.stop_requested())
          return cancelled("the wait for the dispatcher at " + to_string(where) + " was ended");
        contact.reached();
        continue;
      }
      if (code != status_code::unavailable)
        return answer;
      static_cast<void>(contact.failed(answer.status()));
    } else if (const auto final = contact.failed(to.status())) {
      return *final;
    }
    if (contact.is_worth_a_word(now()))
      log_of(*session.here).warn(contact.word());
    if (!pause_for(std::min(pauses.failed({}), left()), how.stop))
      return cancelled("the wait for the dispatcher at " + to_string(where) + " was ended");
    if (now() >= contact.until())
      return contact.late();
  }
}

namespace {

result<buffer> encoded(const dataset_ptr& graph) {
  constexpr size_t room_for_the_rest = 1 << 20;
  HEADRACE_ASSIGN(auto out, encode_graph(graph));
  if (out.size() > max_message_bytes - room_for_the_rest)
    return resource_exhausted(
      fmt::format("the dataset's graph takes {} bytes with all that its functions capture, at most "
                  "{} fit; read larger data from files",
                  out.size(), max_message_bytes - room_for_the_rest));
  return out;
}

result<registered_graph> register_dataset(const target& dispatcher, const waiting& how,
                                          const dataset_registration& what) {
  HEADRACE_ASSIGN(
    auto answer, call(dispatcher, how, make_envelope(random_id(), [&](schema::Envelope::Builder b) {
                        write_dataset_registration(b.initDispatcher().initRegisterDataset(), what);
                      })));
  HEADRACE_ASSIGN(const auto said,
                  dispatcher_answer(answer, schema::DispatcherMessage::DATASET_DEF));
  const auto def = said.getDatasetDef();
  return registered_graph{string_of(def.getDatasetId()), string_of(def.getWarning())};
}

} // namespace

result<dataset_registration> registration_of(const dataset_ptr& graph) {
  HEADRACE_ASSIGN(auto bytes, encoded(graph));
  auto print = fingerprint(bytes);
  return dataset_registration{.id = {},
                              .graph = std::move(bytes),
                              .spec = encode_spec(graph->spec),
                              .fingerprint = std::move(print)};
}

result<registered_graph> register_graph(const target& dispatcher, const dataset_ptr& graph,
                                        const std::string& id, const waiting& how) {
  HEADRACE_ASSIGN(auto what, registration_of(graph));
  what.id = id;
  if (what.graph.size() >= large_graph) {
    // A large graph (one with captured arrays) is sent only if the dispatcher does not have it: the
    // first request contains just its fingerprint.
    auto print = what;
    print.graph = {};
    auto known = register_dataset(dispatcher, how, print);
    if (known || known.status().code() != status_code::not_found)
      return known;
  }
  return register_dataset(dispatcher, how, what);
}

namespace {

envelope question_for_dataset(const std::string& id) {
  return make_envelope(random_id(), [&](schema::Envelope::Builder b) {
    b.initDispatcher().setGetDataset(text_of(id));
  });
}

} // namespace

result<dataset_ptr> graph_of(const target& dispatcher, const std::string& id, duration limit) {
  HEADRACE_ASSIGN(auto answer, call(dispatcher, limit, question_for_dataset(id)));
  HEADRACE_ASSIGN(const auto said,
                  dispatcher_answer(answer, schema::DispatcherMessage::DATASET_DEF));
  const auto graph = said.getDatasetDef().getGraph();
  return decode_graph(bytes_of(graph));
}

result<dataset_metadata> metadata_of(const target& dispatcher, const std::string& id,
                                     const waiting& how) {
  HEADRACE_ASSIGN(auto answer, call(dispatcher, how, question_for_dataset(id)));
  HEADRACE_ASSIGN(const auto said,
                  dispatcher_answer(answer, schema::DispatcherMessage::DATASET_DEF));
  const auto def = said.getDatasetDef();
  const auto spec = def.getElementSpec();
  dataset_metadata out;
  HEADRACE_ASSIGN(out.spec, decode_spec(bytes_of(spec)));
  // A graph that only a later release can decode is not an error here: the elements of the dataset
  // can still be read.
  const auto graph = def.getGraph();
  if (const auto known = decode_graph(bytes_of(graph))) {
    out.cardinality = (*known)->cardinality;
    out.compression = options_of(**known).compression.value_or(compression::automatic);
  }
  return out;
}

} // namespace headrace::detail::service
