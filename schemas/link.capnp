@0xb9d0a4f27c1e6835;
# What two ends of a data link tell each other before the first message. Everything after it is framed
# as runtime/link/frame.hpp describes and belongs to whoever uses the link.

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("headrace::schema");

struct LinkHello {
  # The first frame of each side. The connecting side speaks first, the listening side answers, also
  # when it turns the other away, so that both can say why. At most 4 KiB.

  protocolMajor @0 :UInt16;
  # Nodes of different major versions do not talk.
  protocolMinor @1 :UInt16;
  # Grows when something is added that an older node ignores.
  nodeId @2 :UInt64;
  # Random, new with each life of a node.
  bootId @3 :Text;
  # Equal on two nodes if and only if they run on the same host since its last start.
  role @4 :Text;
  # What the node is, e.g. "worker". For people.
  pingEveryNs @5 :UInt64;
  # While the link is open the sender puts a frame on the wire at least this often: a ping where it has
  # nothing else (minor version 1 and later). Nanoseconds, at most an hour. 0: it promises nothing, and its
  # silence says nothing.
}
