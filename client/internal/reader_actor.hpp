#pragma once

#include "headrace/actors/consumer/consumer_memory.hpp"
#include "headrace/actors/consumer/consumer_options.hpp"
#include "headrace/actors/messages.hpp"
#include "headrace/actors/stream/handout.hpp"
#include "headrace/client/consumer_actor.hpp"

#include <deque>
#include <functional>
#include <memory>

namespace headrace::detail {

/// The actor that `consumer_host` spawns, for a trainer that is an actor. It starts the consumer,
/// and answers requests with elements of the consumer's handout.
class reader_state {
public:
  using handle_type = port::handle<caf::result<local<consumed>>(atom::more, uint64_t),
                                   caf::result<void>(atom::arrived)>;
  static inline const char* name = "headrace.reader";

  /// Starts a consumer with these options that fills the handout. The `consumer_memory` has not
  /// been used by another consumer.
  using starter = std::function<consumer_handle(std::shared_ptr<consumer_memory>, consumer_options,
                                                std::shared_ptr<handout>)>;

  /// `what`: a `distribute` node.
  reader_state(port::self_pointer<handle_type> self, dataset_ptr what, starter start);
  ~reader_state();
  port::behavior<handle_type> make_behavior();

private:
  struct question {
    uint64_t most;
    caf::typed_response_promise<local<consumed>> answer;
  };
  /// Answers as many requests as possible.
  void serve();

  port::self_pointer<handle_type> self_;
  dataset_ptr what_;
  std::shared_ptr<const element_spec> spec_;
  starter start_;
  std::shared_ptr<consumer_memory> memory_; ///< the memory of the consumer
  consumer_handle consumer_; ///< null before it is started, or if it could not be started
  std::shared_ptr<handout> out_;
  std::shared_ptr<const block> current_;
  std::deque<question> questions_;
};

} // namespace headrace::detail
