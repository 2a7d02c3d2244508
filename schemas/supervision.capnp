@0xc7b2e58d41f0a936;
# The supervision tree of a process, for `headrace status`.

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("headrace::schema");

struct SupervisedChild {
  id @0 :Text;
  restart @1 :Restart;
  state @2 :State;
  restarts @3 :UInt64;
  # The number of restarts of the child.
  lastReason @4 :Text;
  # The reason for the child's last end that its supervisor had not requested, with the chain of
  # causes; empty if there was no such end, or it was a normal end.
  below @5 :Supervisor;
  # The children of the child; null if the child is not a supervisor.

  enum Restart {
    permanent @0;
    transient @1;
    temporary @2;
  }
  enum State {
    running @0;
    waiting @1;
    stopping @2;
    ended @3;
  }
}

struct Supervisor {
  path @0 :Text;
  # The names from the root to this supervisor, joined by '/'.
  strategy @1 :Strategy;
  children @2 :List(SupervisedChild);
  # The children in the order in which they start.
  restarts @3 :UInt64;
  # The number of restarts so far; children that were restarted along with another do not count.
  abandoned @4 :UInt64;
  # The number of children that did not end when they were killed.

  enum Strategy {
    oneForOne @0;
    oneForAll @1;
    restForOne @2;
  }
}

struct SupervisionTree {
  # The supervision tree of one process.

  process @0 :Text;
  # For users: the kind of process and its process id.
  roots @1 :List(Supervisor);
  restarts @2 :UInt64;
  # How often the parent process has restarted this process.
  lastReason @3 :Text;
  # How the previous process ended; empty if there was none.
}
