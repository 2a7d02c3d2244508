#pragma once

#include <cstdint>

/// The only list of all operators, with the numbers by which positions refer to them. Numbers are
/// never changed or used again. Sources have numbers below 100. For each operator `name` there is a
/// `name_record` (graph/operator_record.hpp) in the file that implements the operator.
// clang-format off
#define HEADRACE_OPERATORS(X) \
  X(range, 1) \
  X(from_tensors, 2) \
  X(from_tensor_slices, 3) \
  X(text_lines, 4) \
  X(tfrecord, 5) \
  X(list_files, 6) \
  X(fixed_length, 7) \
  X(csv, 8) \
  X(json_lines, 9) \
  X(sql, 10) \
  X(tar_samples, 11) \
  X(counter, 12) \
  X(random, 13) \
  X(generator, 14) \
  X(elements_of, 15) \
  X(load, 16) \
  X(saved_shards, 17) \
  X(global_shuffle, 99) \
  X(map, 100) \
  X(filter, 101) \
  X(flat_map, 102) \
  X(interleave, 103) \
  X(batch, 104) \
  X(shuffle, 105) \
  X(repeat, 106) \
  X(take, 107) \
  X(skip, 108) \
  X(prefetch, 109) \
  X(enumerate, 110) \
  X(zip, 111) \
  X(concatenate, 112) \
  X(distribute, 113) \
  X(take_while, 114) \
  X(shard, 115) \
  X(unique, 116) \
  X(ignore_errors, 117) \
  X(assert_cardinality, 118) \
  X(scan, 119) \
  X(padded_batch, 120) \
  X(window, 121) \
  X(sample_from, 122) \
  X(choose_from, 123) \
  X(options, 124) \
  X(sleep, 125) \
  X(group_by_window, 126) \
  X(ragged_batch, 127) \
  X(single_element, 128) \
  X(last_element, 129) \
  X(cache, 130) \
  X(snapshot, 131) \
  X(write_tfrecord, 132) \
  X(stats, 133)
// clang-format on

namespace headrace::detail {

enum class dataset_op : uint16_t {
#define HEADRACE_OPERATOR(name, number) name = number,
  HEADRACE_OPERATORS(HEADRACE_OPERATOR)
#undef HEADRACE_OPERATOR
};

/// True for a source: an operator that never has inputs, or `global_shuffle`, whose input is a
/// source. False for `distribute`, even if it has no input.
constexpr bool is_source(dataset_op op) noexcept { return op < dataset_op::map; }

} // namespace headrace::detail
