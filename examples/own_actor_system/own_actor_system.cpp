/// A trainer that is an actor (CAF) and gets its elements as messages.

#include <headrace/client/consumer_actor.hpp>
#include <headrace/headrace.hpp>

#include <caf/all.hpp>
#include <cstdio>

namespace hr = headrace;

namespace {

/// The program's configuration of CAF, with the settings that headrace needs.
struct config : caf::actor_system_config {
  config() { hr::configure_consumers(*this); }
};

struct training {
  hr::consumer_actor data;
  int64_t sum = 0;
};
using trainer = caf::stateful_actor<training>;

/// Requests up to eight elements, and after each answer the next ones. Only one request is open at
/// a time, so that elements arrive only as fast as this trainer processes them.
void go_on(trainer* self) {
  self->request(self->state.data, caf::infinite, hr::atom::more_v, uint64_t{8})
    .then([self](const hr::local<hr::consumed>& got) {
      if (got->over()) {
        std::printf("sum of squares: %lld\n", static_cast<long long>(self->state.sum));
        return self->quit();
      }
      for (size_t row = 0; row < got->size(); ++row)
        for (auto x : (*got)[row][0].as<int64_t>()) self->state.sum += x;
      go_on(self);
    });
}

void train(trainer* self, const hr::consumer_actor& data) {
  self->state.data = data;
  go_on(self);
}

} // namespace

int main() {
  hr::local_cluster cluster{{.workers = 2}};
  config settings;
  caf::actor_system system{settings};
  hr::consumer_host host{system}; // destroyed before the system
  auto data = host.spawn(hr::dataset::range(100)
                           .map([](hr::expr x) { return x * x; })
                           .batch(10)
                           .apply(hr::distribute({.processing_mode = hr::sharding_policy::dynamic,
                                                  .service = cluster.target()})));
  auto worker = system.spawn(train, data);
  caf::scoped_actor { system } -> wait_for(worker);
}
