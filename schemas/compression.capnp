@0xe95a2c48d7103bf6;
# How workers compress blocks that they send to consumers.

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("headrace::schema");

enum Compression {
  # A value that the receiver does not define is refused, never read as another one.

  auto @0;
  # The worker chooses: no compression on one host, otherwise snappy if samples of the blocks
  # compress well.
  none @1;
  snappy @2;
}
