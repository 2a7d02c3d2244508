@0xe4a07c5d93f1b862;
# Messages from a job to a consumer.

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("headrace::schema");

using Dispatcher = import "dispatcher.capnp";

struct ConsumerMessage {
  union {
    none @0 :Void;
    iteration @1 :Dispatcher.Iteration;
    # The repetition that the consumer reads has changed.
  }
}
