@0xc61f0b9ad7e34852;
# How a task ended.

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("headrace::schema");

enum TaskOutcome {
  # A value that the receiver does not define is refused, never read as another one.

  exhausted @0;
  # The task's pipeline has ended, and the task has given all of its elements to its readers.
  left @1;
  # The task's worker left before the task's pipeline had ended. The splits that the task had not
  # begun are for other tasks.
  failed @2;
  # The task could not continue.
  stopped @3;
  # The task's job no longer needed it.
}
