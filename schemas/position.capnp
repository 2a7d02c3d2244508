@0xb1d5c2e07a934f68;
# The position of an iteration over a dataset: the state that is needed to continue elsewhere. Its
# size does not depend on the number of elements that were read.

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("headrace::schema");

struct PositionRecord {
  # The record that users keep.

  version @0 :UInt16;
  # The version of the following fields: 1, or 2 if `body` is compressed. Other versions are
  # refused.
  checksum @1 :UInt32;
  # CRC-32C of `body`.
  body @2 :Data;
  # A SavedIteration in canonical form, compressed by zlib in version 2.
  size @3 :UInt32;
  # The number of bytes of a compressed body before compression.
}

struct SavedIteration {
  graph @0 :Text;
  # SHA-256 of the graph, in hexadecimal.
  seed @1 :UInt64;
  # The seed from which operators without a seed of their own derive theirs.
  repetition @2 :UInt64;
  skip @3 :UInt64;
  # The number of elements that were given since `positions` were taken.
  positions @4 :List(Position);
  # The last position is that of the graph's result. Parts come before the positions that use them.
}

struct Position {
  # The position of one running operator.

  op @0 :UInt16;
  # A dataset_op.
  ended @1 :Bool;
  # The operator has ended: it has neither numbers nor parts.
  numbers @2 :List(UInt64);
  # The operator's counts, which are documented in its source file.
  parts @3 :List(UInt32);
  # The positions of its inputs and open datasets: for each, the index in `positions` plus one; 0:
  # not open.
  unusedReads @4 :Bool;
  unusedSource @5 :UInt32;
  unusedPass @6 :UInt64;
  unusedSplit @7 :UInt64;
  # Nothing reads the fields 4 to 7. Older builds wrote the next split of a source there.
  version @8 :UInt16 = 1;
  # The version of the meaning of numbers and parts for this operator. A version that the operator
  # of this build does not write is refused.
}
