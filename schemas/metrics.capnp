@0xd2a8c1f5b60e7394;
# The metrics of a process.

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("headrace::schema");

struct Metric {
  # The value of one metric when it was read.

  struct Label {
    name @0 :Text;
    value @1 :Text;
  }
  struct Histogram {
    bounds @0 :List(Float64);
    # Upper bounds of the buckets, ascending, without infinity.
    counts @1 :List(UInt64);
    # The number of values in each bucket; there is one more bucket than bounds, for values above
    # the last bound.
    sum @2 :Float64;
  }

  name @0 :Text;
  # The name of the metric's family, with the unit at its end.
  labels @1 :List(Label);
  union {
    counter @2 :UInt64;
    gauge @3 :Float64;
    histogram @4 :Histogram;
  }
}
