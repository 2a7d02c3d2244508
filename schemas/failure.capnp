@0x9d3c5e71b08a24f6;
# The reason why a request was not carried out.

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("headrace::schema");

struct Failure {
  code @0 :UInt16;
  # A headrace::status_code. Zero, or a number that the receiver does not define, is read as
  # `unknown`.
  text @1 :Text;
  # The message for users.
}
