#include "headrace/client/service_client.hpp"

#include "headrace/actors/consumer/link_pool.hpp"
#include "headrace/actors/protocol/dataset_codec.hpp"
#include "headrace/actors/protocol/envelope_parts.hpp"
#include "headrace/actors/protocol/large_graph.hpp"
#include "headrace/client/service_call.hpp"
#include "headrace/client/service_status.hpp"
#include "headrace/pipeline/codec/graph_codec.hpp"
#include "headrace/runtime/base/ids.hpp"
#include "headrace/runtime/node/caf_access.hpp"
#include "headrace/runtime/node/caf_connect.hpp"

#include <fmt/format.h>

#include <mutex>

namespace headrace::service {

namespace {

/// The one place where this process remembers: who holds a session keeps node and links alive.
struct last_session {
  std::mutex mutex;
  std::weak_ptr<node> here;
  std::weak_ptr<link_pool> links;
};
last_session& last() {
  static last_session the;
  return the;
}

} // namespace

result<session> session_of_process() {
  HEADRACE_ASSIGN(auto here, node::process({.role = node_role::consumer}));
  auto& known = last();
  std::lock_guard lock{known.mutex};
  auto links = known.links.lock();
  if (!links || known.here.lock() != here) {
    HEADRACE_ASSIGN(auto way, here->transports().find("nearest"));
    links = std::make_shared<link_pool>(std::move(way), here->id());
    known.links = links;
    known.here = here;
  }
  return session{std::move(here), std::move(links)};
}

bool has_session_of(const node& here) {
  auto& known = last();
  std::lock_guard lock{known.mutex};
  return known.here.lock().get() == &here;
}

result<std::shared_ptr<node>> node_with(const tls_options& tls) {
  HEADRACE_ASSIGN(auto here, node::process({.role = node_role::consumer, .tls = tls}));
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

result<envelope> call(const std::string& dispatcher, duration limit, const envelope& what) {
  HEADRACE_ASSIGN(auto where, parse_address(dispatcher));
  HEADRACE_ASSIGN(auto session, session_of_process());
  HEADRACE_ASSIGN(auto to, connect(*session.here, where, limit));
  system_visit inside;
  caf::scoped_actor self{system_of(*session.here)};
  result<envelope> out = internal_error("no answer");
  port::request(self.ptr(), to.actor, limit, what)
    .receive([&](const envelope& in) { out = in; },
             [&](const caf::error& why) {
               out = to_status(why).with_context("dispatcher at " + to_string(where));
             });
  if (out)
    HEADRACE_TRY(status_of(*out));
  return out;
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

result<std::string> register_dataset(const std::string& dispatcher, duration limit,
                                     const dataset_registration& what) {
  HEADRACE_ASSIGN(
    auto answer,
    call(dispatcher, limit, make_envelope(random_id(), [&](schema::Envelope::Builder b) {
           write_dataset_registration(b.initDispatcher().initRegisterDataset(), what);
         })));
  return std::string{text_of(answer->getDispatcher().getDatasetDef().getDatasetId())};
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

result<std::string> register_graph(const std::string& dispatcher, const dataset_ptr& graph,
                                   const std::string& id, duration limit) {
  HEADRACE_ASSIGN(auto what, registration_of(graph));
  what.id = id;
  if (what.graph.size() >= large_graph) {
    // A large one (captured arrays) is sent once: the dispatcher may have it from before.
    auto print = what;
    print.graph = {};
    auto known = register_dataset(dispatcher, limit, print);
    if (known || known.status().code() != status_code::not_found)
      return known;
  }
  return register_dataset(dispatcher, limit, what);
}

namespace {

result<envelope> ask_for_dataset(const std::string& dispatcher, const std::string& id,
                                 duration limit) {
  return call(dispatcher, limit, make_envelope(random_id(), [&](schema::Envelope::Builder b) {
                b.initDispatcher().setGetDataset(id);
              }));
}

} // namespace

result<dataset_ptr> graph_of(const std::string& dispatcher, const std::string& id, duration limit) {
  HEADRACE_ASSIGN(auto answer, ask_for_dataset(dispatcher, id, limit));
  auto graph = answer->getDispatcher().getDatasetDef().getGraph();
  return decode_graph(buffer::copy_of(graph.begin(), graph.size()));
}

result<element_spec> spec_of(const std::string& dispatcher, const std::string& id, duration limit) {
  HEADRACE_ASSIGN(auto answer, ask_for_dataset(dispatcher, id, limit));
  auto spec = answer->getDispatcher().getDatasetDef().getElementSpec();
  return decode_spec(buffer::copy_of(spec.begin(), spec.size()));
}

} // namespace headrace::service
