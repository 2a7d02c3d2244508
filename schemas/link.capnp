@0xb9d0a4f27c1e6835;
# The first messages of the two ends of a data link. All later bytes are framed as described in
# runtime/link/frames/frame.hpp, and belong to the link's user.

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("headrace::schema");

struct LinkHello {
  # The first frame of each side. The connecting side sends first. The listening side answers even
  # when it refuses the connecting side, so that both can report the reason. The frame has at most
  # 4 KiB.

  protocolMajor @0 :UInt16;
  # Nodes of different major versions refuse each other.
  protocolMinor @1 :UInt16;
  # Increased when something is added that older nodes ignore, or that is not sent to older nodes.
  nodeId @2 :UInt64;
  # Random, and new each time a node is started.
  bootId @3 :Text;
  # Equal on two nodes if and only if they run on the same host since its last start.
  role @4 :Text;
  # The kind of node, e.g. "worker". For users.
  pingEveryNs @5 :UInt64;
  # While the link is open the sender sends a frame at least this often: a ping if it has nothing
  # else to send (minor version 1 and later). Nanoseconds, at most an hour. 0: no interval is
  # promised, and silence is ignored.
}
