@0xc61f0b9ad7e34852;
# How a task ended.

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("headrace::schema");

enum TaskOutcome {
  # A value that the receiver does not know is refused, never read as another.

  exhausted @0;
  # It gave all that its sources had for it.
  left @1;
  # Its worker left first. What it had not begun is for others.
  failed @2;
  # It could not continue.
  stopped @3;
  # Its job did not need it any more.
}
