@0xb1d5c2e07a934f68;
# Where an iteration over a dataset stands: what is needed to go on elsewhere. Small, whatever was read.

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("headrace::schema");

struct PositionRecord {
  # What users keep.

  version @0 :UInt16;
  # Of what follows: 1, or 2 if `body` is packed. Others are refused.
  checksum @1 :UInt32;
  # CRC-32C of `body`.
  body @2 :Data;
  # SavedIteration, in canonical form; if it is packed, as zlib does it.
  size @3 :UInt32;
  # Of a packed body: its bytes as they were.
}

struct SavedIteration {
  graph @0 :Text;
  # SHA-256 of the graph, in hexadecimal.
  seed @1 :UInt64;
  # That operators without one of their own derive theirs from.
  repetition @2 :UInt64;
  skip @3 :UInt64;
  # Elements that were given since `positions` were taken.
  positions @4 :List(Position);
  # The last one is that of the graph's result. Parts come before their users.
}

struct Position {
  # Of one operator that is running.

  op @0 :UInt16;
  # As in dataset_op.
  ended @1 :Bool;
  # Nothing comes any more: there are neither numbers nor parts.
  numbers @2 :List(UInt64);
  # What the operator counts; each says in its own file what.
  parts @3 :List(UInt32);
  # Positions of its inputs and open datasets, each one more than its number; 0: none.
  reads @4 :Bool;
  # A source that is to read a split next, or to read on in it: this one.
  source @5 :UInt32;
  pass @6 :UInt64;
  split @7 :UInt64;
  version @8 :UInt16 = 1;
  # Of what the operator means by its numbers and parts. One that the operator of this build does not write is refused.
}
