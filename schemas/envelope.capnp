@0xd1f6a0c29be84a13;
# What published actors say to each other. Every published actor takes one envelope and answers with one.

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("headrace::schema");

using Consumer = import "consumer.capnp";
using Dispatcher = import "dispatcher.capnp";
using import "failure.capnp".Failure;
using Worker = import "worker.capnp";

struct Version {
  # Peers of one major version understand each other; a minor version adds arms and fields.

  major @0 :UInt16;
  minor @1 :UInt16;
}

enum Role {
  # What a node is there for.

  unknown @0;
  dispatcher @1;
  worker @2;
  consumer @3;
  tool @4;
  # Looks, and takes no part: `headrace status`.
}

struct Hello {
  # The first thing two nodes say to each other, in both directions.

  version @0 :Version;
  nodeId @1 :UInt64;
  # Random, new with each process.
  role @2 :Role;
  bootId @3 :Text;
  # Equal on two nodes if and only if they run on the same host since its last start.
  name @4 :Text;
  # For people: the program and its process id.
}

struct BadMessage {
  # The sender's bytes were not a message.

  count @0 :UInt64;
  # How many bad messages the answering actor has had from anybody, this one included.
  reason @1 :Text;
}

struct Unsupported {
  # The sender's message is whole, but this node is too old (or too new) for it.

  arm @0 :UInt16;
  # Discriminant of the arm that the receiver does not know, as it was received.
  version @1 :Version;
  # The receiver's.
  union {
    # In which union the discriminant is.
    envelope @2 :Void;
    role @3 :Text;
    # Name of the role's union, e.g. "dispatcher".
  }
}

struct Envelope {
  requestId @0 :UInt64;
  # Chosen by who asks and repeated in the answer. A request that creates something may be sent again
  # under the same id. Zero where nobody waits.
  version @1 :Version;
  # The sender's.

  union {
    none @2 :Void;
    # Nothing was set: refused.

    hello @3 :Hello;
    helloAck @4 :Hello;
    ok @5 :Void;
    # Done, and there is nothing more to say.
    failure @6 :Failure;
    # Why the request could not be done.
    badMessage @7 :BadMessage;
    unsupported @8 :Unsupported;

    # One arm a role: to it or, as an answer, from it.
    dispatcher @9 :Dispatcher.DispatcherMessage;
    worker @10 :Worker.WorkerMessage;
    consumer @11 :Consumer.ConsumerMessage;
  }
}
