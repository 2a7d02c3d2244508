#pragma once

#include "benchmarks/service.hpp"
#include "benchmarks/table.hpp"

#include <vector>

namespace headrace::detail::bench {

/// Elements read through the service, small and large.
void add_stream_cases(std::vector<bench_case>& to, services& with);
/// Pipelines that compute, locally and through the service.
void add_compute_cases(std::vector<bench_case>& to, services& with);
/// Parsing, images and random orders, locally.
void add_data_cases(std::vector<bench_case>& to);
/// Latencies, the division of elements among consumers, and the memory of an idle server.
void add_service_cases(std::vector<bench_case>& to, services& with);
/// A dispatcher that keeps its state on the disk, with four workers, while it stores leases.
void add_durable_cases(std::vector<bench_case>& to, services& with);
/// Several trainers that share one pipeline's output, replicas that step together, and saves.
void add_sharing_cases(std::vector<bench_case>& to, services& with);
/// The rates beside consumers that stall, and the rates and the memory of workers with many
/// consumers, many files or very large elements.
void add_overload_cases(std::vector<bench_case>& to, services& with);
/// The cost of counting the activity of each operator, as a service does it.
void add_counting_cases(std::vector<bench_case>& to);
/// Kernel calls per 1,000 rows of operators and of expressions, for full blocks and
/// blocks of one row.
void add_kernel_calls(std::vector<bench_case>& to);

} // namespace headrace::detail::bench
