@0xe95a2c48d7103bf6;
# How blocks are packed on their way from a worker to a consumer.

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("headrace::schema");

enum Compression {
  # A value that the receiver does not know is refused, never read as another.

  auto @0;
  # The worker's choice: none on one host, else snappy as long as samples of the blocks pay.
  none @1;
  snappy @2;
}
