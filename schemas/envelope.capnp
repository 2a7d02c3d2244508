@0xd1f6a0c29be84a13;
# The messages of published actors. Every published actor receives an envelope and answers with one.

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("headrace::schema");

using Consumer = import "consumer.capnp";
using Dispatcher = import "dispatcher.capnp";
using import "failure.capnp".Failure;
using Worker = import "worker.capnp";

struct Version {
  # Peers of one major version are compatible; a minor version adds union members and fields.

  major @0 :UInt16;
  minor @1 :UInt16;
}

enum Role {
  # The purpose of a node.

  unknown @0;
  dispatcher @1;
  worker @2;
  consumer @3;
  tool @4;
  # A command, such as `headrace status` or `headrace drain`.
}

struct Hello {
  # The first message between two nodes, in both directions.

  version @0 :Version;
  nodeId @1 :UInt64;
  # Random, and new each time a node is started.
  role @2 :Role;
  bootId @3 :Text;
  # Equal on two nodes if and only if they run on the same host since its last start.
  name @4 :Text;
  # For users: the program and its process id.
}

struct BadMessage {
  # The answer to bytes that are not a message.

  count @0 :UInt64;
  # The number of bad messages so far, from all senders and including this one, to the answering
  # node; in the answer of a consumer, to that consumer.
  reason @1 :Text;
}

struct Unsupported {
  # The answer to a message that is valid, but for which the answering node is too old (or too new).

  arm @0 :UInt16;
  # The discriminant of the union member that the answering node does not define.
  version @1 :Version;
  # The version of the answering node.
  union {
    # The union that has the discriminant.
    envelope @2 :Void;
    role @3 :Text;
    # The name of the role's union, e.g. "dispatcher".
  }
}

struct Envelope {
  requestId @0 :UInt64;
  # Chosen by the sender of a request, and repeated in the answer; may be zero.
  version @1 :Version;
  # The sender's version.

  union {
    none @2 :Void;
    # Not set: the receiver refuses it.

    hello @3 :Hello;
    helloAck @4 :Hello;
    ok @5 :Void;
    # The request was carried out; there is no result.
    failure @6 :Failure;
    # The reason why the request was not carried out.
    badMessage @7 :BadMessage;
    unsupported @8 :Unsupported;

    # One member for each role: messages to the role, or its answers.
    dispatcher @9 :Dispatcher.DispatcherMessage;
    worker @10 :Worker.WorkerMessage;
    consumer @11 :Consumer.ConsumerMessage;
  }
}
