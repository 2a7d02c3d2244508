#pragma once

#include "benchmarks/service_processes.hpp"
#include "benchmarks/table.hpp"

#include <vector>

namespace headrace::detail::bench {

/// Adds cases that read small and large elements through the service.
void add_stream_cases(std::vector<bench_case>& to, services& with);
/// Adds cases for pipelines that compute, locally and through the service.
void add_compute_cases(std::vector<bench_case>& to, services& with);
/// Adds cases for parsing, images and random orders, locally.
void add_data_cases(std::vector<bench_case>& to);
/// Adds cases for latencies, the division of elements among consumers, and the memory of an idle
/// server.
void add_service_cases(std::vector<bench_case>& to, services& with);
/// Adds cases for a service with four workers whose dispatcher keeps its state on disk, while the
/// dispatcher stores leases of splits.
void add_durable_cases(std::vector<bench_case>& to, services& with);
/// Adds cases for several trainers that share one pipeline's output, for coordinated reads, and for
/// saves.
void add_sharing_cases(std::vector<bench_case>& to, services& with);
/// Adds cases for the rate of a consumer while others stall, and for the rate and memory of workers
/// with many consumers, many files or very large elements.
void add_overload_cases(std::vector<bench_case>& to, services& with);
/// Adds cases for the cost of counting the activity of each operator, as a service does it.
void add_counting_cases(std::vector<bench_case>& to);
/// Adds cases for the kernel calls of operators and of expressions per 1,000 rows, in full blocks
/// and in blocks of one row.
void add_kernel_calls(std::vector<bench_case>& to);

} // namespace headrace::detail::bench
