#include "headrace/client/service_client.hpp"

#include "headrace/actors/consumer/link_pool.hpp"
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

capnp::Data::Reader data(const buffer& in) {
  return {reinterpret_cast<const kj::byte*>(in.data()), in.size()};
}

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

envelope register_request(const dataset_ptr& graph, const buffer& bytes, const std::string& print,
                          const std::string& id, id_use use) {
  const auto spec = encode_spec(graph->spec);
  return make_envelope(random_id(), [&](schema::Envelope::Builder b) {
    auto out = b.initDispatcher().initRegisterDataset();
    if (!bytes.empty())
      out.setGraph(data(bytes));
    out.setDatasetId(id);
    out.setForIteration(use == id_use::by_iteration);
    out.setElementSpec(data(spec));
    out.setFingerprint({reinterpret_cast<const kj::byte*>(print.data()), print.size()});
  });
}

} // namespace

result<envelope> register_request(const dataset_ptr& graph, const std::string& id, id_use use) {
  HEADRACE_ASSIGN(auto bytes, encoded(graph));
  return register_request(graph, bytes, fingerprint(bytes), id, use);
}

std::string registered_id(const envelope& answer) {
  return std::string{answer->getDispatcher().getDatasetDef().getDatasetId()};
}

result<std::string> register_graph(const std::string& dispatcher, const dataset_ptr& graph,
                                   const std::string& id, id_use use, duration limit) {
  HEADRACE_ASSIGN(auto bytes, encoded(graph));
  const auto print = fingerprint(bytes);
  if (bytes.size() >= large_graph) {
    // A large one (captured arrays) is sent once: the dispatcher may have it from before.
    const auto known = call(dispatcher, limit, register_request(graph, {}, print, id, use));
    if (known || known.status().code() != status_code::not_found)
      return known ? result<std::string>{registered_id(*known)} : known.status();
  }
  HEADRACE_ASSIGN(auto answer,
                  call(dispatcher, limit, register_request(graph, bytes, print, id, use)));
  return registered_id(answer);
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
