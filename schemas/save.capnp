@0xb81f60d3c7e2594a;
# What the dispatcher and its workers say of saves: datasets that all workers write into one folder. A save is done in
# steps; each is given to one worker at a time, and may be done twice without harm.

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("headrace::schema");

using import "failure.capnp".Failure;

struct SaveOrder {
  # A step for one worker.

  saveId @0 :UInt64;
  number @1 :UInt64;
  # Of this order: no other one has it.
  path @2 :Text;
  # The folder, as workers see it.
  datasetId @3 :Text;
  fingerprint @4 :Data;
  # SHA-256 of its graph.
  compression @5 :Text;
  planId @6 :UInt64;
  # Of the plan that must be in the folder; zero before it is known.
  workers @7 :UInt32;
  # That are alive.
  step :union {
    none @8 :Void;
    # Refused.
    plan @9 :Void;
    # Divide the dataset into pieces, or find what the folder holds of it.
    piece @10 :UInt64;
    # Write this one.
    finish @11 :Void;
    # All pieces are there: make them one dataset.
    note @12 :Failure;
    # Say in the folder why the save ended early, for those who wait for its pieces.
  }
}

struct SaveReport {
  # How a step ended.

  saveId @0 :UInt64;
  number @1 :UInt64;
  # Of the order.
  union {
    none @2 :Void;
    # Refused.
    planned @3 :SavePlanned;
    written @4 :SaveWritten;
    # The piece is there: written now, or by somebody before.
    finished @5 :SaveWritten;
    # The dataset is there, whole.
    failed @6 :Failure;
    # No other worker would do better: the save fails.
    givenBack @7 :Void;
    # Not done: it is for other workers.
  }
}

struct SavePlanned {
  planId @0 :UInt64;
  pieces @1 :UInt64;
  there @2 :Data;
  # A bit for each piece, the lowest first: those that are there.
  whole @3 :Bool;
  # The dataset is there, and nothing is left to do.
  wholeBecause @4 :Text;
  # Why the dataset is one piece; empty: it is divided.
  written @5 :SaveWritten;
}

struct SaveWritten {
  rows @0 :UInt64;
  bytes @1 :UInt64;
  # Of files.
}

struct AskSaveSteps {
  # A worker says how its steps ended, and asks for others.

  workerId @0 :UInt64;
  incarnation @1 :UInt64;
  takes @2 :Bool;
  # More steps: it is not about to leave.
  running @3 :List(Running);
  reports @4 :List(SaveReport);
  # Repeated until they are answered.

  struct Running {
    # A step that it works on.

    saveId @0 :UInt64;
    number @1 :UInt64;
  }
}

struct SaveSteps {
  # The answer.

  orders @0 :List(SaveOrder);
  over @1 :List(UInt64);
  # Saves among those that it works on that are over, or not known here: it is to stop.
}

struct AwaitSave {
  # Answered when the save is past the version that is known. May be repeated.

  saveId @0 :UInt64;
  version @1 :UInt64;
}
