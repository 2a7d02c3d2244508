#pragma once

#include "headrace/pipeline/functions/trace.hpp"
#include "headrace/pipeline/iterator/iterator.hpp"
#include "headrace/pipeline/makers/dataset_makers.hpp"

#include <functional>
#include <string>
#include <vector>

/// Functions that read datasets as lists of strings, one for each row. Such lists are easy to write
/// down and to compare.
namespace headrace::detail::test {

/// Every value of a row with its shape: `7`, `[2]{1 2}`, `a|b`; an error row is `!code: message`.
std::string row_text(const block& rows, size_t row);

/// Returns the number of rows to request next.
using asking = std::function<size_t()>;
inline asking always(size_t n) {
  return [n] { return n; };
}

/// The functions that graphs of tests may call by name. `triple` is the function of a generator: it
/// gives three times the row number, for the rows 0 to 49.
named_function find_function(const function_reference& what);

/// The texts of all rows, until the end or until there are `most`. Checks that each block has at
/// least one row, at most the requested number, and consistent columns, errors and origins.
std::vector<std::string> read_all(iterator& from, const asking& rows = always(1000),
                                  size_t most = 100000);
std::vector<std::string> read_all(const dataset_ptr& graph, const asking& rows = always(1000),
                                  size_t most = 100000);

/// The numbers of a dataset of int64 scalars; throws on an error row.
std::vector<int64_t> read_numbers(const dataset_ptr& graph, const asking& rows = always(1000),
                                  size_t most = 10000000);

/// Makers that throw instead of returning a status.
dataset_ptr range(int64_t start, int64_t stop, int64_t step = 1);
template <class F>
function_ptr traced(const dataset_ptr& input, F f) {
  return std::make_shared<const function>(trace(input->spec, f));
}

/// A split provider with the answers that a test has set. It records all calls.
class scripted_splits : public split_provider {
public:
  struct answer {
    uint32_t source = 0;
    uint64_t pass = 0;
    split_answer range;
  };
  /// The answers to `next`: for each source and pass the ranges of the script in turn, then the
  /// end.
  std::vector<answer> script;
  struct asked {
    uint32_t source;
    uint64_t pass;
    std::optional<uint64_t> total;
    friend bool operator==(const asked&, const asked&) = default;
  };
  std::vector<asked> log;

  /// A closed pass: source, pass and the splits that were not begun.
  struct closing {
    uint32_t source;
    uint64_t pass;
    split_range unread;
    friend bool operator==(const closing&, const closing&) = default;
  };
  std::vector<closing> closed;
  /// The answer of `next` for a pass for which the script has no further answer.
  pass_over ends = {.alone = true};

  result<split_answer> next(uint32_t source, uint64_t pass, std::optional<uint64_t> total,
                            const std::shared_ptr<const split_listing>& listing) override;
  void close(uint32_t source, uint64_t pass, split_range unread) override {
    closed.push_back({source, pass, unread});
  }
};

/// `source/pass/split` of each row; empty if the block has no origins.
std::vector<std::string> origins_of(const block& rows);

/// A folder for temporary files, which the destructor removes.
class scratch_folder {
public:
  scratch_folder();
  ~scratch_folder();
  scratch_folder(const scratch_folder&) = delete;
  scratch_folder& operator=(const scratch_folder&) = delete;
  std::string write(const std::string& name, std::string_view bytes) const;
  const std::string& path() const { return path_; }

private:
  std::string path_;
};
std::string read_file(const std::string& path);

} // namespace headrace::detail::test
