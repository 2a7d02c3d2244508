#pragma once

#include "headrace/client/dataset.hpp"

#include "element_writer.hpp"
#include "python_function.hpp"
#include "waiting.hpp"

#include <memory>
#include <optional>
#include <vector>

namespace headrace::python {

/// One pass over a dataset. Elements at hand are handed out at once; for others the dataset's
/// iterator runs on a thread of its own, while the caller waits without the GIL; where they come
/// straight from a service, the caller itself waits for it. Any thread may
/// call; `next`, `save` and `restore` let one caller in at a time.
class reading {
public:
  explicit reading(const dataset& what);
  /// The iteration of this number, drawn by `seed` (unset: the dataset's own).
  reading(const dataset& what, std::optional<uint64_t> seed, uint64_t repetition);
  /// Goes on where another stood; see `save`.
  reading(const dataset& what, const buffer& record);
  reading(const reading&) = delete;
  reading& operator=(const reading&) = delete;
  ~reading();

  /// The next element; a null object at the end. Throws `error` for an element that failed, and
  /// nb::python_error when a signal ended the wait: the element is not lost then.
  nb::object next();
  /// Where it stands, after the elements that were given. Throws `error`.
  nb::bytes save();
  /// Stands where `record` says from now on.
  void restore(const buffer& record);
  /// How many elements `ignore_errors` has left out.
  uint64_t ignored() const;
  /// Ends the pass and what runs for it. What is read afterwards is its end.
  void close() noexcept;
  /// Before the interpreter ends: closes all that are open.
  static void close_all() noexcept;
  /// Then: waits a moment for their threads, and for the engine's that are in Python.
  static void await_threads() noexcept;

private:
  struct shared;
  class loan;
  reading(dataset what, iterate_options options);
  static std::vector<std::shared_ptr<shared>> open_ones();
  static void work(const std::shared_ptr<shared>& s);
  nb::object give(const element& at, const status* failed);
  bool fetch();
  /// Opens it now where it is part of coordinated reads.
  void join_rounds();
  bool await_service(const status*& failed);
  /// What should be known of a pass that lacks elements, as RuntimeWarning; throws where the
  /// program makes errors of warnings.
  void give_warnings();
  turns::turn take_turn();

  dataset what_;
  turns turns_; ///< of those who use what follows
  std::shared_ptr<shared> shared_;
  element_writer writer_;
  const block* held_ = nullptr;
  element at_;
  bool asked_ = false; ///< the thread was asked for an element that nobody took yet
  bool over_ = false;
};

} // namespace headrace::python
