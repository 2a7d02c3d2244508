@0xb95d20c7e84fa163;
# Messages between a consumer and a task over a link. One stream is one channel of the link; its
# messages keep their order. An element is a row of a block.

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("headrace::schema");

using Block = import "block.capnp";
using Compression = import "compression.capnp";
using TaskOutcome = import "task_outcome.capnp";
using import "failure.capnp".Failure;

struct Open {
  # The first message on the channel, from the consumer. It is sent again after the link was lost.

  taskId @0 :UInt64;
  incarnation @1 :UInt64;
  consumerId @2 :UInt64;
  received @3 :UInt64;
  # The number of elements of this stream that the consumer has received: the stream continues after
  # these.
  handedOut @4 :UInt64;
  # The number of elements of this stream that the consumer's trainer was handed.
  compression @5 :Compression.Compression;
  trainerId @6 :Text;
  # In a job with a cross-trainer cache: the id of the trainer whose place this stream shares.
  startsNewest @7 :Bool;
  # A trainer that is new to the cache begins with the next element that is made, not with the
  # oldest element in the window.
  consumerIndex @8 :UInt32;
  # In coordinated reads: the seat of this consumer, which decides which element of each group it
  # gets.
}

struct Grant {
  # The number of elements that were handed out, and how many may be sent. All fields are totals or
  # states, so that a lost or repeated message does no harm.

  handedOut @0 :UInt64;
  # The number of elements of this stream that the trainer was handed: the task drops these rows.
  elements @1 :UInt64;
  # The total number of elements of the stream that the task may send.
  bytes @2 :UInt64;
  # The number of bytes that may be sent and not handed out; one element may always be sent.
  waiting @3 :Bool;
  # The trainer is blocked in `next`, and no stream has anything for it.
  received @4 :UInt64;
  # The number of elements of this stream that the consumer has received. Set in each grant once the
  # task is `leaving`, and in coordinated reads; otherwise it may be zero.
  claimed @5 :UInt64;
  # The elements below this number are claimed. Used only if the stream's blocks have `claimed`.
  epoch @6 :UInt64;
  # In coordinated reads: the newest epoch that the consumer takes part in.
  taken @7 :UInt64;
  # The number of elements that the trainer has taken. Those after `handedOut` are in use: the task
  # keeps them, because the trainer may not have begun with them, but it does not recall them.
}

struct Recall {
  # The consumer is to give back the elements that its trainer was not handed.

  id @0 :UInt64;
  keep @1 :UInt64;
  # The number of elements that may be kept in addition to those handed out.
}

struct Recalled {
  id @0 :UInt64;
  mark @1 :UInt64;
  # Elements of this stream below this number stay with the consumer; the others are given back.
}

struct StreamBlock {
  first @0 :UInt64;
  # The number of elements of this stream before this block. Elements are numbered without gaps.
  block @1 :Block.Block;
  skipped @2 :UInt64;
  # The total of elements that left the window before this trainer was handed them.
  claimed @3 :UInt64;
  # Not zero: the trainer may be handed the elements below this number; later ones only after they
  # are claimed and confirmed. Zero: it may be handed all elements that the consumer is sent.
}

struct Claimed {
  # The confirmation of a claim, if no block contains it.

  elements @0 :UInt64;
  # The trainer may be handed the elements of the stream below this number. If the trainer's
  # consumer is lost, these elements are given to no other reader.
}

struct StreamEnd {
  elements @0 :UInt64;
  # The stream ends after this many elements.
  outcome @1 :TaskOutcome.TaskOutcome;
  # How the task ended. The sources were read to their end only if all tasks end with `exhausted`.
}

struct ReceivedByAll {
  # In coordinated reads: how many elements a consumer may hand out.

  epoch @0 :UInt64;
  # The epoch in which all consumers take part, according to their reports.
  elements @1 :UInt64;
  # Each of the consumers has received at least this number of elements of its stream.
}

struct StreamMessage {
  union {
    none @0 :Void;
    # Messages from the consumer.
    open @1 :Open;
    grant @2 :Grant;
    recalled @3 :Recalled;
    close @4 :Void;
    # The consumer leaves.

    # Messages from the task.
    block @5 :StreamBlock;
    recall @6 :Recall;
    end @7 :StreamEnd;
    failed @8 :Failure;
    # The stream is refused or cannot continue.
    opened @10 :Void;
    # The answer to `open`: the consumer is one of the task's readers, and the task keeps the rows
    # of this stream for it.
    leaving @9 :Void;
    # The task's worker leaves: as far as grants allow, the task sends the elements of the splits
    # that it has begun, and no others.
    claimed @11 :Claimed;
    receivedByAll @12 :ReceivedByAll;
  }
}
