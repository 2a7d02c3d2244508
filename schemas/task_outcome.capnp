@0xc61f0b9ad7e34852;
# How a task ended.

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("headrace::schema");

enum TaskOutcome {
  # A value that the receiver does not define is refused, never read as another one.

  exhausted @0;
  # The task gave all elements that its sources had for it.
  left @1;
  # The task's worker left before the sources of the task were exhausted. The splits that the task
  # had not begun are for other tasks.
  failed @2;
  # The task could not continue.
  stopped @3;
  # The task's job no longer needed it.
}
