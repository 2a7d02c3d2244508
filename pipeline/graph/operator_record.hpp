#pragma once

#include "headrace/pipeline/graph/dataset_node.hpp"
#include "headrace/pipeline/graph/rerun.hpp"
#include "headrace/runtime/base/result.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace headrace::detail {

class iterator;
class node_reader;
class node_writer;
class engine;
class random_access;
struct place;
/// How the rows of an operator correspond to the rows of its inputs.
struct row_facts {
  bool one_to_one = false; ///< row i is made of row i of each input
  /// Each row is made of one row of one input, and does not depend on the rows before it.
  bool apart = false;
  bool several = false; ///< one row of the input may become more than one
  bool mixed = false;   ///< the order of the rows may differ from that of the input rows
  /// For sharding by files: if the elements of the operator are file names, the shard operator may
  /// be inserted below the operator instead of above it.
  bool divides_as_input = false;
  /// The operator returns all rows of its input as they are, like `prefetch`. For sharding by data,
  /// the shard operator is inserted below the operator instead of above it.
  bool untouched = false;
};

/// Whether a source reads files.
enum class file_use : uint8_t {
  none,
  named,  ///< the files that the first tensor of the source names
  others, ///< files that the source finds itself
};

/// The properties of a source that a job uses. A property whose function is null does not apply
/// to the source.
struct source_facts {
  file_use files = file_use::none;
  /// True if each split is one row.
  bool (*splits_are_rows)(const dataset_node&) = nullptr;
  /// The number of splits in one pass; nullopt if it does not follow from the graph.
  std::optional<uint64_t> (*splits)(const dataset_node&) = nullptr;
  /// Opens the source for reading its rows in any order (for `global_shuffle`). Files must not be
  /// compressed.
  result<std::unique_ptr<random_access>> (*open_any_order)(engine&, const dataset_ptr&,
                                                           const place&) = nullptr;
};

/// How the elements of an operator can be saved in pieces (see saving/piecewise.hpp).
enum class piece_rule : uint8_t {
  whole,        ///< one worker must save all elements, for the reason `why`
  aligned,      ///< element i is made of element i of the input
  apart,        ///< each element is made of one input element and does not depend on its index
  side_by_side, ///< element i is made of element i of every input
  together,     ///< every `rows_together` elements of the input become one element
  kept,         ///< elements are kept for later passes: a cache
};
struct piece_facts {
  piece_rule rule = piece_rule::whole;
  /// The reason why one worker must save all elements, if the rule or the graph requires that.
  std::string_view why =
    "looks at more than one element; save what stands before it, and put it after load";
  int64_t (*rows_together)(const dataset_node&) = nullptr; ///< for `together` only
  /// Returns the reason why one worker must save all elements of a node with these parameters. If
  /// the reason is empty, or this function is null, `rule` decides. For a source `rule` is not
  /// used: its elements can be saved in pieces, unless this function returns a reason.
  std::string_view (*not_in_pieces)(const dataset_node&) = nullptr;
};

/// The place of a node in its graph. Whether the rows of the node can be read again depends on it.
struct reread_place {
  bool in_function = false; ///< the node belongs to a dataset that a function makes
  bool repeated = false;    ///< the node's rows are read more than once, or may be
};

/// All properties of an operator, except its checks, which are in its maker (see
/// makers/dataset_makers.hpp). There is one constant record for each operator, in the file that
/// implements it. Each record sets the name, `arm`, `encode`, `decode` and `open`. The defaults of
/// the other properties are not right for every operator: for example, `mixed` is false, and a null
/// `not_run_again` permits another run to continue one that was interrupted.
struct operator_record {
  std::string_view name; ///< the name in messages

  // The stored form: the member of the union in schemas/dataset.capnp, and the functions that write
  // and read it.
  uint16_t arm = 0;
  void (*encode)(const dataset_node&, node_writer&) = nullptr;
  result<dataset_ptr> (*decode)(node_reader&) = nullptr;

  // The functions for running the operator.
  result<std::unique_ptr<iterator>> (*open)(engine&, const dataset_ptr&, const place&) = nullptr;
  /// The version of the numbers and parts in the operator's positions. It is increased when their
  /// meaning changes, so that positions of an older build are refused and not misread. At least 1.
  uint16_t position_version = 1;

  row_facts rows;
  /// Returns a dataset of one int64 element: the cardinality of the node, if it depends on the
  /// argument of a function. Null, or a function that returns null: the cardinality is determined
  /// only when the elements are read, and `make_cardinality` refuses the operator by name.
  /// Functions for this field are in composed/cardinality_dataset.hpp.
  dataset_ptr (*cardinality)(const dataset_ptr&) = nullptr;
  /// How often the operator returns the rows of its input; -1: without end; unset: that depends on
  /// an element. If the function is null, the operator returns these rows once.
  known_number (*passes)(const dataset_node&) = nullptr;
  /// The index of the input that each run of a graph reads whole, even if the splits of other
  /// sources are shared with other runs; nullopt: there is no such input.
  std::optional<size_t> whole_input;
  source_facts source;
  piece_facts pieces;

  /// True if the operator, when it has no seed, draws its rows or their order anew in each run.
  bool (*draws_order)(const dataset_node&) = nullptr;
  /// The reason why another run cannot continue an interrupted run that contains this operator;
  /// empty: another run can. Whether parallel calls may change the order of rows is not checked
  /// here, but by `may_reorder`.
  std::string (*not_run_again)(const dataset_node&, const broken_run&, bool in_function) = nullptr;
  /// The reason why splits below the operator cannot be read again by another run; empty: they can.
  std::string_view (*not_read_again)(const dataset_node&, const reread_place&) = nullptr;
  /// The text in brackets after the name in `explain`; may be empty.
  std::string (*shown)(const dataset_node&) = nullptr;
};

#define HEADRACE_OPERATOR(name, number) extern const operator_record name##_record;
HEADRACE_OPERATORS(HEADRACE_OPERATOR)
#undef HEADRACE_OPERATOR
/// The record of an operator; null for a number that no operator of this build has.
const operator_record* find_record(dataset_op op) noexcept;
/// The record of the operator that has this member in the schema; null if none has.
const operator_record* find_record_of_arm(uint16_t arm) noexcept;
inline const operator_record& record_of(const dataset_node& node) noexcept {
  return *find_record(node.op);
}
/// See `operator_record::passes`.
inline known_number passes_over_input(const dataset_node& node) {
  const auto passes = record_of(node).passes;
  return passes ? passes(node) : known_number{1};
}

// -- shared by several records --------------------------------------------------------------------

inline bool always(const dataset_node&) { return true; }
/// Functions for `source_facts::splits`: `splits_of_rows` for sources of which each split is one
/// row, `splits_of_files` for sources of which each split is one file that the first tensor names.
std::optional<uint64_t> splits_of_rows(const dataset_node& node);
std::optional<uint64_t> splits_of_files(const dataset_node& node);
/// The properties of operators that return one row for each input row.
inline constexpr row_facts row_for_row{.one_to_one = true, .apart = true};
/// The properties of sources.
inline constexpr row_facts source_rows{.apart = true};
/// The reason why batches may not be saved in pieces.
inline constexpr std::string_view taken_together =
  "takes elements together that may be of several pieces; save what stands before it, and batch "
  "what is loaded";
/// The number, or "..." if it depends on an element.
std::string shown_number(known_number x);
/// A text such as ", 4 calls" for `operator_record::shown`; empty for an operator without parallel
/// calls.
std::string shown_calls(const dataset_node& node);
/// A text such as "'python:f', 4 calls" for `operator_record::shown`: the named function, as
/// `to_string` describes it, and the number of parallel calls. A missing part is left out.
std::string shown_function(const dataset_node& node);
/// The reason that `not_run_again` of an operator returns if the operator keeps its elements in
/// `folder`.
std::string refused_folder(const std::string& folder);
/// True if the function of the node uses random numbers. The record of an operator whose function
/// decides which elements are returned, such as `filter`, has `draws_in_function` as `draws_order`.
bool draws_in_function(const dataset_node& node);

} // namespace headrace::detail
