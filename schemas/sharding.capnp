@0xb4f1d07a3c6e9825;
# How the workers of a service share a dataset.

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("headrace::schema");

enum ShardingPolicy {
  # A value that the receiver does not know is refused, never read as another.

  off @0;
  # Each worker runs the whole graph.
  dynamic @1;
  # Workers lease splits of its sources from the job.
}
