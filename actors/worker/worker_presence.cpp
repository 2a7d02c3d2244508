#include "headrace/actors/job/job_codec.hpp"
#include "headrace/actors/worker/worker_actor.hpp"
#include "headrace/runtime/node/boot_id.hpp"
#include "headrace/runtime/supervision/codec.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unistd.h>
#include <utility>
#include <vector>

namespace headrace {

// What the dispatcher is told of this worker: who it is, that it lives, how its tasks go.

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

void write_refusals(schema::WorkerHeartbeat::Builder out, const link_counters& counted) {
  const auto refused = refusals_in(counted);
  auto list = out.initRefusedLinks(static_cast<unsigned>(refused.size()));
  for (unsigned i = 0; i < list.size(); ++i) {
    list[i].setCause(refused[i].first);
    list[i].setCount(refused[i].second);
  }
}

bool same_bytes(const buffer& a, const buffer& b) {
  return std::ranges::equal(a.as<std::byte>(), b.as<std::byte>());
}

} // namespace

void worker_state::register_here(const connection& to) {
  auto say = make_envelope(0, [&](schema::Envelope::Builder b) {
    auto out = b.initDispatcher().initRegisterWorker();
    out.setWorkerId(id_.value);
    out.setIncarnation(life_.value);
    out.setDataAddress(options_.data_address);
    out.setBootId(boot_id());
    out.setPid(static_cast<uint32_t>(getpid()));
    auto tags = out.initTags(static_cast<unsigned>(options_.tags.size()));
    for (unsigned i = 0; i < tags.size(); ++i) tags.set(i, options_.tags[i]);
    auto tasks = out.initTasks(static_cast<unsigned>(tasks_.size()));
    unsigned i = 0;
    for (const auto& [id, task] : tasks_) {
      auto one = tasks[i++];
      one.setTaskId(id.value);
      one.setJobId(task.about.job.value);
    }
  });
  port::request(self_, to.actor, timing_.lease, say)
    .then(
      [this](const envelope& in) {
        if (auto how = status_of(in); !how)
          return dispatcher_.renew(how);
        auto answer = in->getDispatcher().getWorkerRegistered();
        id_ = worker_id{answer.getWorkerId()};
        timing_ = read_timing(answer.getTiming());
        log_.info("registered", {{"worker", id_}, {"dispatcher", to_string(dispatcher_.where())}});
        told_tree_ = {};
        // What was said over the earlier connection may not have arrived.
        for (const auto& [id, task] : tasks_) ask_again(id, true);
        port::remind(self_, timing_.heartbeat, atom::beat_v, ++beats_);
      },
      [this](const caf::error& why) { dispatcher_.renew(to_status(why)); });
}

size_t worker_state::look_for_stuck() {
  const auto stuck = options_.threads->stuck(now(), timing_.lease);
  if (options_.most_stuck != 0 && stuck >= options_.most_stuck && !told_stuck_) {
    told_stuck_ = true;
    const status why = resource_exhausted(fmt::format(
      "threads that were told to stop hang in foreign code, such as a file system or library that "
      "does not return: {}; the worker bears fewer than {}",
      stuck, options_.most_stuck));
    log_.error("threads are stuck", {{"why", why}});
    if (options_.on_stuck)
      options_.on_stuck(why);
  }
  return stuck;
}

void worker_state::beat() {
  for (const auto& [id, said] : unheard_ends_) tell_end(id);
  for (const auto& [id, task] : tasks_) ask_again(id, false);
  const auto stuck = look_for_stuck();
  const auto* to = dispatcher_.get();
  if (to == nullptr)
    return; // registering anew starts the beat again
  const auto tree =
    encode({fmt::format("worker {:x}, process {}", id_.value, ::getpid()), options_.past,
            place_.board ? place_.board->roots() : std::vector<supervisor_snapshot>{}})
      .bytes();
  auto say = make_envelope(0, [&](schema::Envelope::Builder b) {
    auto out = b.initDispatcher().initWorkerHeartbeat();
    out.setWorkerId(id_.value);
    out.setIncarnation(life_.value);
    auto tasks = out.initTasks(static_cast<unsigned>(tasks_.size()));
    unsigned i = 0;
    for (auto& [id, task] : tasks_) {
      auto one = tasks[i++];
      one.setTaskId(id.value);
      one.setElements(task.numbers.elements);
      one.setBytes(task.numbers.bytes);
      one.setIgnored(task.memory->ignored->load());
      one.setStreams(task.numbers.streams);
      one.setRestarts(task.numbers.restarts);
      task.rate.add(now(), task.numbers.elements);
      one.setElementsPerSecond(task.rate.per_second());
    }
    out.setStuckThreads(static_cast<uint32_t>(stuck));
    const auto counted = options_.counters ? options_.counters() : node_counters{};
    out.setBadMessages(bad_messages_ + counted.bad_messages);
    write_refusals(out, counted.links);
    if (!same_bytes(tree, told_tree_))
      out.setTree({reinterpret_cast<const kj::byte*>(tree.data()), tree.size()});
  });
  told_tree_ = tree;
  port::request(self_, *to, timing_.lease, say)
    .then(
      [this](const envelope& in) {
        // Not known there (any more): a new dispatcher, or our lease was over.
        if (auto how = status_of(in); !how)
          return dispatcher_.renew(how);
      },
      [this](const caf::error& why) { dispatcher_.renew(to_status(why)); });
  port::remind(self_, timing_.heartbeat, atom::beat_v, beats_);
}

} // namespace headrace
