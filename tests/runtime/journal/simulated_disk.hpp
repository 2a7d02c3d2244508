#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <vector>

struct sqlite3_vfs;

namespace headrace::detail::test {

/// The files of a disk, by their names without their directory.
using disk_image = std::map<std::string, std::vector<char>>;

/// A disk in memory under SQLite. It records which bytes were synced, can lose its power at each
/// single operation, and can be full or defective. Operations are writes, truncations, deletions
/// and syncs. Thread-safe.
class simulated_disk {
public:
  explicit simulated_disk(disk_image content = {});
  ~simulated_disk();
  simulated_disk(const simulated_disk&) = delete;
  simulated_disk& operator=(const simulated_disk&) = delete;

  /// The name under which the disk is registered with SQLite.
  const std::string& name() const noexcept { return name_; }
  uint64_t operations() const;
  uint64_t syncs() const;

  /// Fails the operation of this number, counted from 1, and all after it. `then` is called at that
  /// operation, and must not call the disk.
  void lose_power_at(uint64_t operation, std::function<void()> then);
  bool powerless() const;
  /// Which of the bytes that were not synced survive a loss of power: none, all, or random sectors.
  /// `after_power_loss` returns these together with all bytes that were synced.
  enum class unsynced : uint8_t { lost, kept, random };
  disk_image after_power_loss(unsynced rest, std::mt19937_64& random) const;
  /// The content that programs see.
  disk_image content() const;

  /// From now on writes and syncs fail with these result codes of SQLite. With 0 they succeed.
  void fail_with(int writes, int syncs = 0);
  /// From now on writes to this file fail with this result code. With 0 the codes of
  /// `fail_with` hold for the file.
  void fail_writes_to(const std::string& file, int writes);
  /// From now on one of `one_of` operations fails, chosen at random. With 0 none does.
  void fail_some(unsigned one_of, uint64_t seed);
  /// While true, syncs wait.
  void hold_syncs(bool held);
  /// Waits until a sync is being held.
  bool wait_for_held_sync();
  /// Waits until no file is open.
  bool wait_until_closed();

private:
  friend struct simulated_file;
  struct change {
    uint64_t offset = 0;
    std::vector<char> bytes;
    std::optional<uint64_t> size; ///< the new size of a truncation
  };
  struct file {
    std::vector<char> now, safe;
    std::vector<change> unsynced;
    bool named = false; ///< the file's name would survive a loss of power
    int failing_writes = 0;
  };
  /// Counts an operation. Returns the result code with which it must fail, or 0.
  int operate(int failure);
  void sync_names();
  static void apply(std::vector<char>& to, const change& x);
  int open(const char* full, int flags, void* to);
  int remove(const char* full, bool sync);

  const std::string name_;
  std::unique_ptr<sqlite3_vfs> vfs_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, std::shared_ptr<file>> files_;
  std::map<std::string, std::shared_ptr<file>> removed_; ///< files whose removal was not synced
  uint64_t operations_ = 0, syncs_ = 0, last_ = UINT64_MAX;
  std::function<void()> on_power_loss_;
  int failing_writes_ = 0, failing_syncs_ = 0;
  unsigned failing_one_of_ = 0;
  std::mt19937_64 random_;
  bool hold_ = false;
  size_t held_ = 0;
  size_t open_ = 0;
};

} // namespace headrace::detail::test
