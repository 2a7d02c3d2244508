#pragma once

#include "headrace/client/dataset.hpp"

#include "element_writer.hpp"
#include "python_function.hpp"
#include "waiting.hpp"

#include <memory>
#include <optional>
#include <vector>

namespace headrace::detail::python {

/// One iteration over a dataset. Elements that are ready are returned at once. Other elements are
/// made by the dataset's iterator on a thread of its own, while the caller waits without the GIL.
/// If elements come directly from a service, the caller itself waits for the service. All threads
/// may use this object: calls of `next`, `save` and `restore` run one at a time.
class reading {
public:
  /// An iteration with number `repetition` (unset: the next) and `seed` (unset: the dataset's own).
  explicit reading(const dataset& what, std::optional<uint64_t> seed = {},
                   std::optional<uint64_t> repetition = {}, counters_of counters = {});
  /// An iteration that begins at the position in `record`, which `save` has returned.
  reading(const dataset& what, const buffer& record, counters_of counters = {});
  reading(const reading&) = delete;
  reading& operator=(const reading&) = delete;
  ~reading();

  /// The next element; a null object at the end. Throws `error` for an error row. If a signal ends
  /// the wait, throws nb::python_error, and the next call returns the element.
  nb::object next();
  /// The position after the elements that were returned. Throws `error`.
  nb::bytes save();
  /// Moves to the position in `record`, which `save` returned for an equal dataset.
  void restore(const buffer& record);
  /// From now on, strings of elements are bytes that compare equal to a str, too (`string_value`).
  void give_string_values() { writer_.give_strings(strings_as::values); }
  /// The number of error rows that `ignore_errors` has left out.
  uint64_t ignored() const;
  /// Ends the iteration and all that runs for it. Later reads return the end.
  void close() noexcept;
  const element_spec& spec() const { return what_.spec(); }
  /// To be called before the interpreter ends: closes all open iterations.
  static void close_all() noexcept;
  /// To be called after `close_all`: waits a moment for the threads of the closed iterations, and
  /// for the engine's threads that run Python code.
  static void await_threads() noexcept;

private:
  struct shared;
  class loan;
  reading(dataset what, iterate_options options);
  static std::vector<std::shared_ptr<shared>> open_ones();
  static void work(const std::shared_ptr<shared>& s);
  nb::object give(const element& at, const status* failed);
  bool fetch();
  /// Opens the iteration now if it is part of coordinated reads.
  void join_rounds();
  bool await_service(const status*& failed);
  /// Issues a RuntimeWarning for each warning of the engine, such as that elements of the
  /// repetition are missing. Throws nb::python_error if the program turns warnings into errors.
  void give_warnings();
  turns::turn take_turn();

  dataset what_;
  turns turns_; ///< guards the following members
  std::shared_ptr<shared> shared_;
  element_writer writer_;
  const block* held_ = nullptr;
  element at_;
  bool asked_ = false; ///< an element was requested from the thread and was not taken yet
  bool over_ = false;
};

} // namespace headrace::detail::python
