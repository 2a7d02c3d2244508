@0xb95d20c7e84fa163;
# What a consumer and a task say to each other over a link. One stream is one channel of the link; its messages
# keep their order. Element counts are counts of rows.

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("headrace::schema");

using Block = import "block.capnp";

enum Compression {
  auto @0;
  # None on one host, otherwise by sampling.
  none @1;
  snappy @2;
}

struct Open {
  # First on the channel, from the consumer; again after the link was lost.

  taskId @0 :UInt64;
  incarnation @1 :UInt64;
  consumerId @2 :UInt64;
  nextSeq @3 :UInt64;
  # The first block that the consumer has not got.
  handedOut @4 :UInt64;
  # Elements of this stream that its trainer has been given.
  compression @5 :Compression;
}

struct Grant {
  # Credit, as totals since the stream began, so that a lost or repeated one does no harm.

  elements @0 :UInt64;
  bytes @1 :UInt64;
}

struct Acknowledge {
  receivedSeq @0 :UInt64;
  # Blocks before this one have arrived: the task forgets how to send them again, not their rows.
  handedOut @1 :UInt64;
  # Elements handed to the trainer: the task forgets these rows.
}

struct Recall {
  # Give back what your trainer has not been given.

  id @0 :UInt64;
  keep @1 :UInt64;
  # Elements that may be kept beyond those handed out.
}

struct Recalled {
  id @0 :UInt64;
  mark @1 :UInt64;
  # Elements of this stream up to here stay with the consumer; the others come back.
}

struct StreamBlock {
  seq @0 :UInt64;
  # A stream's own count of blocks, without gaps.
  first @1 :UInt64;
  # Elements of this stream before this block.
  block @2 :Block.Block;
}

struct StreamFailure {
  code @0 :UInt16;
  text @1 :Text;
}

struct StreamMessage {
  union {
    none @0 :Void;
    # From the consumer.
    open @1 :Open;
    grant @2 :Grant;
    acknowledge @3 :Acknowledge;
    recalled @4 :Recalled;
    close @5 :Void;
    # The consumer leaves.

    # From the task.
    block @6 :StreamBlock;
    recall @7 :Recall;
    end @8 :UInt64;
    # Nothing comes after this many elements of this stream.
    failed @9 :StreamFailure;
    # The stream is refused or cannot go on.
  }
}
