@0x9d3c5e71b08a24f6;
# Why something could not be done.

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("headrace::schema");

struct Failure {
  code @0 :UInt16;
  # A headrace::status_code; zero, or a number that the receiver does not know, reads as `unknown`.
  text @1 :Text;
  # For people.
}
