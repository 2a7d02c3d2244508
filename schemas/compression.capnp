@0xe95a2c48d7103bf6;
# How workers compress blocks that they send to consumers.

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("headrace::schema");

enum Compression {
  # A value that the receiver does not know is refused, never read as another.

  auto @0;
  # The worker chooses: none on one host, else snappy if samples of the blocks compress well.
  none @1;
  snappy @2;
}
