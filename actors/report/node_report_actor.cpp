#include "headrace/actors/report/node_report_actor.hpp"

#include "headrace/actors/messages.hpp"
#include "headrace/runtime/node/caf_access.hpp"
#include "headrace/runtime/node/peer.hpp"

#include <functional>
#include <utility>
#include <vector>

namespace headrace {

namespace {

/// The causes for which links were refused, and how many each.
std::vector<std::pair<const char*, uint64_t>> refusals_in(const link_counters& x) {
  std::vector<std::pair<const char*, uint64_t>> out{{"bad_magic", x.bad_magic},
                                                    {"bad_version", x.bad_version},
                                                    {"bad_frame", x.bad_frame},
                                                    {"oversized", x.oversized},
                                                    {"truncated", x.truncated},
                                                    {"silent", x.silent},
                                                    {"tls", x.tls}};
  std::erase_if(out, [](const auto& entry) { return entry.second == 0; });
  return out;
}

/// Not part of the worker: what it tells goes on when that is restarted.
class node_report_state {
public:
  using handle_type = port::handle<caf::result<void>(atom::beat, uint64_t)>;
  static inline const char* name = "headrace.node_report";

  node_report_state(port::self_pointer<handle_type> self, const address& dispatcher,
                    connector_actor connector, std::function<node_counters()> counters,
                    std::string data_address, duration every)
    : self_(self),
      counters_(std::move(counters)),
      data_address_(std::move(data_address)),
      every_(every),
      watcher_(self),
      dispatcher_(
        self, watcher_, std::move(connector), dispatcher,
        {.on_up = [](const connection&) {}, .on_down = [](const status&) {}, .on_failed = {}}) {}

  port::behavior<handle_type> make_behavior() {
    port::remind(self_, every_, atom::beat_v, uint64_t{0});
    return {[this](atom::beat, uint64_t) {
      tell();
      port::remind(self_, every_, atom::beat_v, uint64_t{0});
    }};
  }

private:
  void tell() {
    const auto refused = refusals_in(counters_().links);
    const auto* to = dispatcher_.get();
    if (refused.empty() || to == nullptr)
      return;
    port::tell(*to, make_envelope(0, [&](schema::Envelope::Builder b) {
      auto out = b.initDispatcher().initNodeReport();
      out.setDataAddress(data_address_);
      auto list = out.initRefusedLinks(static_cast<unsigned>(refused.size()));
      for (unsigned i = 0; i < list.size(); ++i) {
        list[i].setCause(refused[i].first);
        list[i].setCount(refused[i].second);
      }
    }));
  }

  port::self_pointer<handle_type> self_;
  std::function<node_counters()> counters_;
  std::string data_address_;
  duration every_;
  port::watcher watcher_;
  peer dispatcher_;
};

} // namespace

void start_node_reports(node& where, const address& dispatcher, std::string data_address,
                        duration every) {
  system_visit inside;
  adopt(where, caf::actor_cast<caf::actor>(port::spawn<node_report_state>(
                 system_of(where), dispatcher, connector_of(where), where.counter_reader(),
                 std::move(data_address), every)));
}

} // namespace headrace
