#pragma once

#include "headrace/pipeline/graph/dataset_node.hpp"
#include "headrace/pipeline/graph/rerun.hpp"
#include "headrace/runtime/base/result.hpp"

#include <string>
#include <string_view>

namespace headrace {

class iterator;
class node_reader;
class node_writer;
namespace detail {
class engine;
class random_access;
struct place;
} // namespace detail

/// How the rows of an operator correspond to the rows of its inputs.
struct row_facts {
  bool one_to_one = false; ///< row i is made of row i of each input
  /// Each row is made of one row of one input, and does not depend on the rows before it.
  bool apart = false;
  bool several = false; ///< one row of the input may become more than one
  bool mixed = false;   ///< rows may come in another order than those that they are made of
  /// Of an input that gives names of files: who divides that input divides what is given.
  bool divides_as_input = false;
};

/// Whether a source reads files.
enum class file_use : uint8_t {
  none,
  named,  ///< those that its first tensor names
  others, ///< files that it finds itself
};

/// What a job needs to know of a source. Null for what does not apply.
struct source_facts {
  file_use files = file_use::none;
  /// Is each split one row?
  bool (*splits_are_rows)(const dataset_node&) = nullptr;
  /// Splits in one pass; nullopt where the graph does not say it.
  std::optional<uint64_t> (*splits)(const dataset_node&) = nullptr;
  /// Opens it for reading its rows in any order (for `global_shuffle`). Files must not be
  /// compressed for that.
  result<std::unique_ptr<detail::random_access>> (*open_any_order)(detail::engine&,
                                                                   const dataset_ptr&,
                                                                   const detail::place&) = nullptr;
};

/// What of an operator can be saved piece by piece (see saving/piecewise.hpp).
enum class piece_rule : uint8_t {
  whole,        ///< one worker saves all: `why`
  aligned,      ///< element i is made of element i of the input
  apart,        ///< each element is made of one element of an input, wherever that stands
  side_by_side, ///< elements of the inputs are paired by their places
  together,     ///< every `rows_together` elements of the input become one
  kept,         ///< elements are kept for later passes: a cache
};
struct piece_facts {
  piece_rule rule = piece_rule::whole;
  /// Why all must be saved by one worker, where the rule or the graph asks for that.
  std::string_view why =
    "looks at more than one element; save what stands before it, and put it after load";
  int64_t (*rows_together)(const dataset_node&) = nullptr; ///< of `together` only
};

/// Where a node stands, for whether what it gave can be given again.
struct reread_place {
  bool in_function = false; ///< in a dataset that a function gives
  bool repeated = false;    ///< what the node gives is read more than once, or may be
};

/// Everything about an operator but its checks, which are in its maker (graph/build.hpp). There is
/// one constant record an operator, in the operator's own file. Null functions mean "nothing
/// special"; the defaults of the facts are those that are right for an operator of which nothing is
/// known.
struct operator_record {
  std::string_view name; ///< in messages

  // Stored form: its arm in the union of schemas/dataset.capnp, written and read.
  uint16_t arm = 0;
  void (*encode)(const dataset_node&, node_writer&) = nullptr;
  result<dataset_ptr> (*decode)(node_reader&) = nullptr;

  // Running.
  result<std::unique_ptr<iterator>> (*open)(detail::engine&, const dataset_ptr&,
                                            const detail::place&) = nullptr;
  /// Of the numbers and parts in its positions. One more where these change their meaning, so that
  /// positions of an older build are refused and not misread. At least 1.
  uint16_t position_version = 1;

  row_facts rows;
  source_facts source;
  piece_facts pieces;

  /// Is its order drawn anew in each run if it was given no seed?
  bool (*draws_order)(const dataset_node&) = nullptr;
  /// Why a run that broke off cannot be taken up again over it; empty: it can. That parallel calls
  /// may change the order is known without.
  std::string (*not_run_again)(const dataset_node&, const broken_run&, bool in_function) = nullptr;
  /// Why splits below it cannot be read again by another run; empty: they can.
  std::string_view (*not_read_again)(const dataset_node&, const reread_place&) = nullptr;
  /// What `explain` shows in brackets after the name, or nothing.
  std::string (*shown)(const dataset_node&) = nullptr;
};

namespace detail {
#define HEADRACE_OPERATOR(name, number) extern const operator_record name##_record;
HEADRACE_OPERATORS(HEADRACE_OPERATOR)
#undef HEADRACE_OPERATOR
} // namespace detail

/// The record of an operator; null for a number that no operator of this build has.
const operator_record* find_record(dataset_op op) noexcept;
/// The record of the operator that has this arm in the schema; null if none has.
const operator_record* find_record_of_arm(uint16_t arm) noexcept;
inline const operator_record& record_of(const dataset_node& node) noexcept {
  return *find_record(node.op);
}

// -- what several records share -------------------------------------------------------------------

inline bool always(const dataset_node&) { return true; }
/// `source_facts::splits` where a split is one row, and where it is one of the files that the first
/// tensor names.
std::optional<uint64_t> splits_of_rows(const dataset_node& node);
std::optional<uint64_t> splits_of_files(const dataset_node& node);
/// The row facts of operators that give one row for each row.
inline constexpr row_facts row_for_row{.one_to_one = true, .apart = true};
/// Those of sources.
inline constexpr row_facts source_rows{.apart = true};
/// Why batches may not be saved piece by piece.
inline constexpr std::string_view taken_together =
  "takes elements together that may be of several pieces; save what stands before it, and batch "
  "what is loaded";
/// The number, or "..." if it depends on an element.
std::string shown_number(known_number x);
/// ", 4 calls", or nothing: of operators with parallel calls, for `operator_record::shown`.
std::string shown_calls(const dataset_node& node);
/// "'f', 4 calls": the function's label, if it has a name, and its calls.
std::string shown_function(const dataset_node& node);
/// For `not_run_again` of what keeps elements in a folder.
std::string refused_folder(const std::string& folder);
/// Does its function ask for random numbers? For `draws_order` of an operator whose function says
/// which elements there are.
bool draws_in_function(const dataset_node& node);

} // namespace headrace
