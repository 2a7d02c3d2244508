@0xe4a07c5d93f1b862;
# What a job says to a consumer without being asked.

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("headrace::schema");

using Dispatcher = import "dispatcher.capnp";

struct ConsumerMessage {
  union {
    none @0 :Void;
    iteration @1 :Dispatcher.Iteration;
    # The repetition that it reads has changed.
  }
}
