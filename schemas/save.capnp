@0xb81f60d3c7e2594a;
# Messages about saves between the dispatcher and its workers. In a save, all workers write a
# dataset into one folder. A save is done in steps. Each step is assigned to one worker at a time,
# and may be done twice without harm.

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("headrace::schema");

using import "failure.capnp".Failure;

struct SaveOrder {
  # A step for one worker.

  saveId @0 :UInt64;
  number @1 :UInt64;
  # The number of this order.
  path @2 :Text;
  # The folder, as an absolute path on the workers.
  datasetId @3 :Text;
  fingerprint @4 :Data;
  # SHA-256 of the dataset's graph.
  compression @5 :Text;
  planId @6 :UInt64;
  # The plan that must be in the folder; zero if it is unknown.
  workers @7 :UInt32;
  # The number of living workers.
  step :union {
    none @8 :Void;
    # Not set: the receiver refuses it.
    plan @9 :Void;
    # The worker is to divide the dataset into pieces, or to find out what is in the folder.
    piece @10 :UInt64;
    # The worker is to write this piece.
    finish @11 :Void;
    # All pieces are written: the worker is to join them to one dataset.
    note @12 :Failure;
    # The worker is to write into the folder why the save ended early, for processes that wait for
    # its pieces.
  }
}

struct SaveReport {
  # The outcome of a step.

  saveId @0 :UInt64;
  number @1 :UInt64;
  # The number of the order.
  union {
    none @2 :Void;
    # Not set: the receiver refuses it.
    planned @3 :SavePlanned;
    written @4 :SaveWritten;
    # The piece is written, now or earlier.
    finished @5 :SaveWritten;
    # The whole dataset is written.
    failed @6 :Failure;
    # The step failed, and would fail on other workers, too: the save fails.
    givenBack @7 :Void;
    # The step was not done: it can be assigned to another worker.
  }
}

struct SavePlanned {
  planId @0 :UInt64;
  pieces @1 :UInt64;
  there @2 :Data;
  # One bit for each piece, the lowest first: set if the piece is written.
  whole @3 :Bool;
  # The dataset is written, and no step is left.
  wholeBecause @4 :Text;
  # The reason why the dataset is one piece; empty: it is divided.
  written @5 :SaveWritten;
}

struct SaveWritten {
  rows @0 :UInt64;
  bytes @1 :UInt64;
  # The size of the files in bytes.
}

struct AskSaveSteps {
  # A worker reports the outcomes of its steps, and requests new ones.

  workerId @0 :UInt64;
  incarnation @1 :UInt64;
  takes @2 :Bool;
  # The worker takes more steps; false if it is about to leave.
  running @3 :List(Running);
  reports @4 :List(SaveReport);
  # Each report is repeated until it is answered.

  struct Running {
    # A step on which the worker works.

    saveId @0 :UInt64;
    number @1 :UInt64;
  }
}

struct SaveSteps {
  # The answer to AskSaveSteps.

  orders @0 :List(SaveOrder);
  over @1 :List(UInt64);
  # Saves in `running` whose steps the worker must stop: the dispatcher does not have the save, the
  # save has ended, or its step is no longer assigned to this worker.
}

struct AwaitSave {
  # A request for the state of a save. It is answered when the version of the save differs from
  # `version`. The request may be repeated.

  saveId @0 :UInt64;
  version @1 :UInt64;
}
