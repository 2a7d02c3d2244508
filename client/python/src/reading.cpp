#include "reading.hpp"

#include "headrace/runtime/base/clock.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace headrace::detail::python {

/// State shared by the trainer's thread and a second thread, which runs the iterator. Only one of
/// the two uses the iterator: the second thread while `asked` is true, else the trainer's. The
/// second thread opens the iterator, unless it is open already, and destroys it after `close`.
struct reading::shared : std::enable_shared_from_this<shared> {
  dataset_ptr graph;
  iterate_options options;
  std::optional<buffer> record;         ///< the position at which to begin; unset: the start
  std::optional<dataset_iterator> from; ///< the iterator, opened at the first element
  std::optional<result<buffer>> at_end; ///< the result of the iterator's `save` at the end
  announcement fetched;

  std::atomic<bool> warned{false}; ///< `warnings` is not empty
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::string> warnings; ///< warnings not issued yet
  bool started = false;              ///< the thread that runs the iterator exists
  bool asked = false;
  bool lent = false;               ///< while true, `from` is kept: a caller without the GIL uses it
  std::atomic<bool> closed{false}; ///< set while the GIL is held
  bool ended = false;              ///< the thread and the iterator have ended
  uint64_t ignored = 0;            ///< `from->ignored()` when `from` was destroyed

  // The last result of the thread: an element, the error of an error row, or an exception. At the
  // end of the dataset none of the three is set.
  std::optional<element> at;
  status failed;
  std::exception_ptr thrown;

  /// Opens the iterator and stores it in `from`, unless the iteration is closed meanwhile. To be
  /// called without the GIL, which the engine may need.
  void open() {
    std::optional<dataset_iterator> opened;
    opened.emplace(record ? dataset_iterator{graph, *record, options}
                          : dataset_iterator{graph, options});
    std::lock_guard lock{mutex};
    if (!closed)
      from = std::move(opened);
  }
  void close() noexcept {
    std::lock_guard lock{mutex};
    if (closed)
      return;
    closed = true;
    if (from) {
      from->stop();
      // The iterator is destroyed on the thread, because its destructor may take a while, and may
      // need the GIL. A forked child does not destroy it.
      if (!started && !is_orphan())
        start();
    }
    changed.notify_all();
  }
  /// Starts the thread. False: the system gave no thread, and the iterator will be destroyed with
  /// this object. @pre the mutex is held
  bool start() noexcept {
    try {
      std::thread{[self = shared_from_this()] { work(self); }}.detach();
      started = true;
    } catch (const std::exception&) {
      // The system gave no thread.
    }
    return started;
  }

  static std::shared_ptr<shared> make();
  ~shared();
};

/// Keeps the iterator in `shared::from` while a caller uses it without the GIL. If another thread
/// calls `close` meanwhile, the iterator is stopped, but not destroyed.
class reading::loan {
public:
  /// @pre no element is requested from the thread at present
  explicit loan(shared& of) : of_(of) {
    std::lock_guard lock{of_.mutex};
    of_.lent = true;
  }
  ~loan() {
    std::lock_guard lock{of_.mutex};
    of_.lent = false;
    of_.changed.notify_all();
  }
  loan(const loan&) = delete;
  loan& operator=(const loan&) = delete;

  /// Opens the iterator if it is not open, and returns it; null if the iteration was closed.
  dataset_iterator* from() {
    if (!of_.from && !of_.closed)
      of_.open();
    return of_.from && !of_.closed ? &*of_.from : nullptr;
  }

private:
  shared& of_;
};

namespace {

using namespace std::chrono_literals;

status closed_already() { return failed_precondition("save: the iterator was closed"); }

/// The iterations that the interpreter's exit ends: all that are open or have a running thread.
template <class Shared>
struct open_readings {
  std::mutex mutex;
  std::map<Shared*, std::weak_ptr<Shared>> all;
};
template <class Shared>
open_readings<Shared>& readings() {
  static auto* the = new open_readings<Shared>; // never destroyed, as threads may use it to the end
  return *the;
}

} // namespace

std::shared_ptr<reading::shared> reading::shared::make() {
  auto out = std::make_shared<shared>();
  auto& open = readings<shared>();
  std::lock_guard lock{open.mutex};
  open.all.emplace(out.get(), out);
  return out;
}

reading::shared::~shared() {
  auto& open = readings<shared>();
  std::lock_guard lock{open.mutex};
  open.all.erase(this);
}

namespace {

/// True if the graph reads from a service in rounds, which begin only when all consumers have
/// joined.
bool reads_in_rounds(const dataset_ptr& what, std::set<const dataset_node*>& seen) {
  if (!seen.insert(what.get()).second)
    return false;
  return (what->op == dataset_op::distribute && what->as<service_options>().rounds)
         || std::ranges::any_of(what->inputs,
                                [&](const auto& x) { return reads_in_rounds(x, seen); });
}

} // namespace

reading::reading(const dataset& what, std::optional<uint64_t> seed,
                 std::optional<uint64_t> repetition, counters_of counters)
  : reading(what, what.next_iteration({.seed = seed,
                                       .repetition = repetition,
                                       .find_function = {},
                                       .warn = {},
                                       .counters = std::move(counters)})) {
  join_rounds();
}

void reading::join_rounds() {
  // The iterator is opened here, and not when its first element is requested. One thread may read
  // several consumers in turn, and its first request would wait for consumers that have not joined.
  if (std::set<const dataset_node*> seen; reads_in_rounds(what_.node(), seen))
    run_interruptibly([s = shared_] { s->open(); });
}

reading::reading(dataset what, iterate_options options)
  : what_(std::move(what)), shared_(shared::make()), writer_(what_.spec()) {
  enter_threads();
  shared_->graph = what_.node();
  shared_->options = std::move(options);
  shared_->options.find_function = python_functions();
  shared_->options.warn = [to = std::weak_ptr{shared_}](const std::string& what) {
    if (const auto s = to.lock()) {
      std::lock_guard lock{s->mutex};
      s->warnings.push_back(what);
      s->warned = true;
    }
  };
}

reading::reading(const dataset& what, const buffer& record, counters_of counters)
  : reading(what, iterate_options{.seed = {},
                                  .repetition = {},
                                  .find_function = {},
                                  .warn = {},
                                  .counters = std::move(counters)}) {
  shared_->record = record;
  // Errors of the record are thrown here, not at the first element.
  run_interruptibly([s = shared_] { s->open(); });
  what_.go_past(*shared_->from);
}

reading::~reading() {
  if (is_orphan()) {
    // The thread exists only in the parent process, so nothing can be ended in order here.
    keep_for_ever(std::move(shared_));
    keep_for_ever(std::move(at_));
    return;
  }
  at_ = {};
  close();
  // The destructor of `shared` may wait until threads have ended, and these may need the GIL.
  nb::gil_scoped_release others;
  shared_.reset();
}

void reading::close() noexcept { shared_->close(); }

std::vector<std::shared_ptr<reading::shared>> reading::open_ones() {
  std::vector<std::shared_ptr<shared>> out;
  auto& known = readings<shared>();
  std::lock_guard lock{known.mutex};
  for (const auto& [_, one] : known.all)
    if (auto lives = one.lock())
      out.push_back(std::move(lives));
  return out;
}

void reading::close_all() noexcept {
  for (const auto& one : open_ones()) one->close();
}

void reading::await_threads() noexcept {
  const auto open = open_ones();
  nb::gil_scoped_release others;
  const auto limit = clock::system().now() + 500ms;
  for (const auto& one : open) {
    std::unique_lock lock{one->mutex};
    one->changed.wait_until(lock, limit, [&] { return !one->started || one->ended; });
  }
  // Threads of the engine that run Python code end soon, because their waits were ended. They would
  // crash if the interpreter exited before.
  visit::await_all(clock::system().now() + 10s);
}

void reading::work(const std::shared_ptr<shared>& s) {
  std::unique_lock lock{s->mutex};
  for (;;) {
    s->changed.wait(lock, [&] { return !s->lent && (s->closed || s->asked); });
    if (s->closed)
      break;
    lock.unlock();
    std::optional<element> at;
    status failed;
    std::exception_ptr thrown;
    try {
      if (!s->from)
        s->open();
      if (!s->from)
        break; // the iteration was closed meanwhile
      if (!s->from->only_waits()) {
        if (auto next = s->from->next())
          at = *std::move(next);
        else
          failed = next.status();
        if (failed.ok() && !at)
          s->at_end = s->from->save();
      }
    } catch (...) {
      thrown = std::current_exception();
    }
    lock.lock();
    s->at = std::move(at);
    s->failed = std::move(failed);
    s->thrown = thrown;
    s->asked = false;
    s->fetched.announce();
    if (s->from && s->from->only_waits() && !s->closed) {
      // The iterator is open: the trainer's thread waits for the service itself.
      s->started = false;
      s->changed.notify_all();
      return;
    }
  }
  if (!lock.owns_lock())
    lock.lock();
  s->at.reset();
  auto from = std::move(s->from);
  s->from.reset();
  if (from)
    s->ignored = from->ignored();
  if (s->asked)
    s->fetched.announce();
  lock.unlock();
  from.reset();
  lock.lock();
  s->ended = true;
  s->changed.notify_all();
}

/// Requests one element from the thread that runs the iterator, and waits for it; false at the end.
/// If a service gives all elements, the thread only opens the iterator; then the result is true.
bool reading::fetch() {
  if (!asked_) {
    {
      std::lock_guard lock{shared_->mutex};
      if (shared_->closed)
        return false;
      if (!shared_->started && !shared_->start())
        throw error{resource_exhausted("the system gives no thread to read with")};
      shared_->asked = true;
    }
    asked_ = true;
    shared_->changed.notify_all();
  }
  shared_->fetched.wait();
  asked_ = false;
  std::lock_guard lock{shared_->mutex};
  if (shared_->closed)
    return false;
  if (shared_->thrown)
    std::rethrow_exception(std::exchange(shared_->thrown, nullptr));
  return shared_->at || !shared_->failed.ok() || (shared_->from && shared_->from->only_waits());
}

/// Waits on the caller's thread for the next element from the service; false at the end.
///
/// The element is taken only when this thread has the GIL again: other threads may keep the GIL for
/// long, and in that time a taken element would count as handed out before `next` returned it.
bool reading::await_service(const status*& failed) {
  // A signal does not end the wait of the engine, so signals are checked between short waits.
  constexpr auto look_every = 50ms;
  for (;;) {
    auto came = dataset_iterator::outcome::over;
    {
      const without_gil others;
      loan mine{*shared_};
      if (auto* from = mine.from()) {
        came = from->wait(look_every);
        if (came == dataset_iterator::outcome::over)
          shared_->at_end = from->save();
      }
    }
    // A closed iteration has ended, even if an element arrived after it was closed.
    if (came == dataset_iterator::outcome::over || shared_->closed)
      return false;
    // The element may have gone to another consumer meanwhile.
    if (came == dataset_iterator::outcome::ready && shared_->from->take(at_, failed))
      return true;
    if (PyErr_CheckSignals() != 0)
      throw nb::python_error();
  }
}

namespace {

/// The error for an error row. The code `out_of_range`, which functions of plug-ins and workers of
/// other releases may give, is replaced by `invalid_argument`: a loop over `get_next` would treat
/// `out_of_range` as the end of the dataset.
error of_element(const status& why) {
  return error{why.code() == status_code::out_of_range ? invalid_argument(why.message()) : why};
}

} // namespace

nb::object reading::give(const element& at, const status* failed) {
  if (failed)
    throw of_element(*failed);
  if (&at.rows() != held_) {
    writer_.hold(at);
    held_ = &at.rows();
  }
  return writer_.row(at.row());
}

void reading::give_warnings() {
  if (!shared_->warned.exchange(false))
    return;
  std::vector<std::string> all;
  {
    std::lock_guard lock{shared_->mutex};
    all.swap(shared_->warnings);
  }
  for (const auto& one : all)
    if (PyErr_WarnEx(PyExc_RuntimeWarning, one.c_str(), 1) != 0)
      throw nb::python_error();
}

turns::turn reading::take_turn() {
  enter_threads();
  return turns_.take();
}

nb::bytes reading::save() {
  const auto turn = take_turn();
  if (asked_)
    throw error{failed_precondition("save: a wait for the next element was interrupted; take that "
                                    "element first")};
  const auto kept = shared_;
  if (over_ && kept->at_end) {
    const auto& record = kept->at_end->value();
    return nb::bytes{record.data(), record.size()};
  }
  if (kept->closed)
    throw error{closed_already()};
  const auto record = [&]() -> std::optional<buffer> {
    const without_gil others;
    loan mine{*kept};
    auto* from = mine.from();
    return from ? std::optional{from->save().value()} : std::nullopt;
  }();
  if (!record)
    throw error{closed_already()};
  return nb::bytes{record->data(), record->size()};
}

uint64_t reading::ignored() const {
  std::lock_guard lock{shared_->mutex};
  return shared_->from ? shared_->from->ignored() : shared_->ignored;
}

void reading::restore(const buffer& record) {
  reading fresh{what_, record, shared_->options.counters};
  const auto turn = take_turn();
  close();
  // The iterations are swapped, so that the destructor of `fresh` ends the old one.
  const auto old = shared_;
  shared_.swap(fresh.shared_);
  at_ = {};
  held_ = nullptr;
  asked_ = over_ = false;
}

nb::object reading::next() {
  const auto turn = take_turn();
  if (over_)
    return {};
  const status* failed = nullptr;
  // Only a thread that holds the GIL can close the iteration, so the iterator is not destroyed
  // while this thread holds the GIL.
  const bool open = !asked_ && !shared_->closed && shared_->from;
  if (open && shared_->from->take(at_, failed))
    return give(at_, failed);
  const bool at_service = open && shared_->from->only_waits();
  // This call comes before an element is taken, because it may throw, and the element would be
  // lost. It may also run Python code, in which another thread may close the iteration.
  give_warnings();
  bool came = at_service || fetch();
  // If `fetch` has returned true and no element, the caller's thread waits for the service.
  const bool waits = came && !shared_->at && shared_->failed.ok();
  if (waits)
    came = await_service(failed);
  if (!came) {
    over_ = true;
    at_ = {};
    close();
    give_warnings();
    return {};
  }
  if (waits)
    return give(at_, failed);
  if (!shared_->failed.ok())
    throw of_element(std::exchange(shared_->failed, status{}));
  at_ = *std::exchange(shared_->at, std::nullopt);
  return give(at_, nullptr);
}

} // namespace headrace::detail::python
