#include "tests/runtime/journal/simulated_disk.hpp"

#include "tests/support/patience.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <new>
#include <sqlite3.h>
#include <utility>

namespace headrace::detail::test {

/// SQLite's object for an open file.
struct simulated_file {
  sqlite3_file base; // the first member, because SQLite uses the object as a sqlite3_file
  simulated_disk* disk;
  std::shared_ptr<simulated_disk::file> file;
  bool syncs_names; ///< the next sync of the file also syncs the directory

  static simulated_file& of(sqlite3_file* x) { return *reinterpret_cast<simulated_file*>(x); }

  static int close(sqlite3_file* x) {
    auto& [base, disk, file, names] = of(x);
    std::lock_guard hold{disk->mutex_};
    file.reset();
    --disk->open_;
    disk->changed_.notify_all();
    return SQLITE_OK;
  }
  static int read(sqlite3_file* x, void* to, int size, sqlite3_int64 offset) {
    auto& [base, disk, file, names] = of(x);
    std::lock_guard hold{disk->mutex_};
    const auto have = static_cast<sqlite3_int64>(file->now.size());
    const auto n = std::clamp<sqlite3_int64>(have - offset, 0, size);
    std::memset(to, 0, static_cast<size_t>(size));
    if (n > 0)
      std::memcpy(to, file->now.data() + offset, static_cast<size_t>(n));
    return n == size ? SQLITE_OK : SQLITE_IOERR_SHORT_READ;
  }
  static int write(sqlite3_file* x, const void* from, int size, sqlite3_int64 offset) {
    auto& [base, disk, file, names] = of(x);
    std::lock_guard hold{disk->mutex_};
    const auto* bytes = static_cast<const char*>(from);
    simulated_disk::change change{static_cast<uint64_t>(offset), {bytes, bytes + size}, {}};
    const bool had_power = disk->operations_ < disk->last_;
    const auto failed =
      disk->operate(file->failing_writes ? file->failing_writes : disk->failing_writes_);
    if (failed != SQLITE_OK) {
      // The write at which the power is lost may have been executed in part.
      if (failed == SQLITE_IOERR && had_power && disk->operations_ == disk->last_)
        file->unsynced.push_back(std::move(change));
      return failed;
    }
    simulated_disk::apply(file->now, change);
    file->unsynced.push_back(std::move(change));
    return SQLITE_OK;
  }
  static int truncate(sqlite3_file* x, sqlite3_int64 size) {
    auto& [base, disk, file, names] = of(x);
    std::lock_guard hold{disk->mutex_};
    if (const auto failed = disk->operate(disk->failing_writes_); failed != SQLITE_OK)
      return failed;
    file->unsynced.push_back({0, {}, static_cast<uint64_t>(size)});
    simulated_disk::apply(file->now, file->unsynced.back());
    return SQLITE_OK;
  }
  static int sync(sqlite3_file* x, int) {
    auto& [base, disk, file, names] = of(x);
    std::unique_lock hold{disk->mutex_};
    if (disk->hold_) {
      ++disk->held_;
      disk->changed_.notify_all();
      disk->changed_.wait(hold, [disk = disk] { return !disk->hold_; });
      --disk->held_;
    }
    if (const auto failed = disk->operate(disk->failing_syncs_); failed != SQLITE_OK)
      return failed;
    ++disk->syncs_;
    file->safe = file->now;
    file->unsynced.clear();
    if (std::exchange(names, false))
      disk->sync_names();
    return SQLITE_OK;
  }
  static int size(sqlite3_file* x, sqlite3_int64* to) {
    std::lock_guard hold{of(x).disk->mutex_};
    *to = static_cast<sqlite3_int64>(of(x).file->now.size());
    return SQLITE_OK;
  }
  static int lock(sqlite3_file*, int) { return SQLITE_OK; }
  static int check_lock(sqlite3_file*, int* to) {
    *to = 0;
    return SQLITE_OK;
  }
  static int control(sqlite3_file*, int, void*) { return SQLITE_NOTFOUND; }
  static int sector(sqlite3_file*) { return 512; }
  // As SQLite assumes of every disk by default, a torn write does not change the bytes beside it.
  static int traits(sqlite3_file*) { return SQLITE_IOCAP_POWERSAFE_OVERWRITE; }
};

namespace {

simulated_disk& disk_of(sqlite3_vfs* x) { return *static_cast<simulated_disk*>(x->pAppData); }

std::string fresh_name() {
  static std::atomic<unsigned> count{0};
  return "simulated-" + std::to_string(++count);
}

/// The name of a file without its directory. Files are stored under it, so that a disk image can be
/// used for any directory.
std::string name_of(const char* path) {
  const auto* slash = std::strrchr(path, '/');
  return slash ? slash + 1 : path;
}

constexpr uint64_t sector_size = 512;

} // namespace

simulated_disk::simulated_disk(disk_image content)
  : name_(fresh_name()), vfs_(std::make_unique<sqlite3_vfs>(*sqlite3_vfs_find(nullptr))) {
  for (auto& [path, bytes] : content) {
    auto x = std::make_shared<file>();
    x->now = x->safe = std::move(bytes);
    x->named = true;
    files_.emplace(path, std::move(x));
  }
  auto& vfs = *vfs_;
  vfs.iVersion = 2;
  vfs.szOsFile = sizeof(simulated_file);
  vfs.pNext = nullptr;
  vfs.zName = name_.c_str();
  vfs.pAppData = this;
  vfs.xOpen = [](sqlite3_vfs* x, const char* path, sqlite3_file* to, int flags, int* got) {
    if (got)
      *got = flags;
    return disk_of(x).open(path, flags, to);
  };
  vfs.xDelete = [](sqlite3_vfs* x, const char* path, int sync) {
    return disk_of(x).remove(path, sync != 0);
  };
  vfs.xAccess = [](sqlite3_vfs* x, const char* path, int flags, int* to) {
    auto& disk = disk_of(x);
    std::lock_guard hold{disk.mutex_};
    const auto at = disk.files_.find(name_of(path));
    // As in SQLite's own layer, an empty file does not count as existing.
    *to = at != disk.files_.end() && (flags != SQLITE_ACCESS_EXISTS || !at->second->now.empty());
    return SQLITE_OK;
  };
  vfs.xFullPathname = [](sqlite3_vfs*, const char* path, int room, char* to) {
    sqlite3_snprintf(room, to, "%s", path);
    return SQLITE_OK;
  };
  vfs.xGetLastError = [](sqlite3_vfs*, int, char*) { return 0; };
  sqlite3_vfs_register(vfs_.get(), 0);
}

simulated_disk::~simulated_disk() { sqlite3_vfs_unregister(vfs_.get()); }

int simulated_disk::open(const char* full, int flags, void* to) {
  std::lock_guard hold{mutex_};
  const auto path = name_of(full);
  static const sqlite3_io_methods methods = [] {
    sqlite3_io_methods out{};
    out.iVersion = 1;
    out.xClose = &simulated_file::close;
    out.xRead = &simulated_file::read;
    out.xWrite = &simulated_file::write;
    out.xTruncate = &simulated_file::truncate;
    out.xSync = &simulated_file::sync;
    out.xFileSize = &simulated_file::size;
    out.xLock = &simulated_file::lock;
    out.xUnlock = &simulated_file::lock;
    out.xCheckReservedLock = &simulated_file::check_lock;
    out.xFileControl = &simulated_file::control;
    out.xSectorSize = &simulated_file::sector;
    out.xDeviceCharacteristics = &simulated_file::traits;
    return out;
  }();
  auto* opened = static_cast<simulated_file*>(to);
  opened->base.pMethods = nullptr;
  if (!files_.contains(path)) {
    if (!(flags & SQLITE_OPEN_CREATE))
      return SQLITE_CANTOPEN;
    files_[path] = std::make_shared<file>();
  }
  // As in SQLite's own layer, the first sync of a new journal or log also syncs the directory.
  constexpr int journals = SQLITE_OPEN_MAIN_JOURNAL | SQLITE_OPEN_WAL;
  const bool syncs_names = (flags & SQLITE_OPEN_CREATE) && (flags & journals);
  ++open_;
  new (opened) simulated_file{{&methods}, this, files_[path], syncs_names};
  return SQLITE_OK;
}

int simulated_disk::remove(const char* full, bool sync) {
  std::lock_guard hold{mutex_};
  const auto path = name_of(full);
  const auto at = files_.find(path);
  if (at == files_.end())
    return SQLITE_IOERR_DELETE_NOENT;
  if (const auto failed = operate(failing_writes_); failed != SQLITE_OK)
    return failed;
  if (!sync && at->second->named)
    removed_[path] = at->second;
  files_.erase(at);
  return SQLITE_OK;
}

void simulated_disk::sync_names() {
  removed_.clear();
  for (auto& [path, x] : files_) x->named = true;
}

int simulated_disk::operate(int failure) {
  if (operations_ < last_ && ++operations_ == last_ && on_power_loss_)
    on_power_loss_();
  if (operations_ >= last_)
    return SQLITE_IOERR;
  if (failing_one_of_ != 0 && random_() % failing_one_of_ == 0)
    return (random_() & 1) != 0 ? SQLITE_FULL : SQLITE_IOERR_WRITE;
  return failure;
}

void simulated_disk::apply(std::vector<char>& to, const change& x) {
  if (x.size) {
    to.resize(*x.size);
    return;
  }
  if (to.size() < x.offset + x.bytes.size())
    to.resize(x.offset + x.bytes.size());
  std::copy(x.bytes.begin(), x.bytes.end(), to.begin() + static_cast<ptrdiff_t>(x.offset));
}

disk_image simulated_disk::after_power_loss(unsynced rest, std::mt19937_64& random) const {
  std::lock_guard hold{mutex_};
  const auto survives = [&] {
    return rest == unsynced::kept || (rest == unsynced::random && (random() & 1) != 0);
  };
  disk_image out;
  const auto add = [&](const std::string& path, const file& x) {
    auto bytes = x.safe;
    for (const auto& change : x.unsynced) {
      if (change.size) {
        if (survives())
          apply(bytes, change);
        continue;
      }
      // Each sector of the write is kept or lost independently of the others.
      for (uint64_t at = 0; at < change.bytes.size();) {
        const auto left = sector_size - (change.offset + at) % sector_size;
        const auto n = std::min<uint64_t>(left, change.bytes.size() - at);
        const auto from = change.bytes.begin() + static_cast<ptrdiff_t>(at);
        if (survives())
          apply(bytes, {change.offset + at, {from, from + static_cast<ptrdiff_t>(n)}, {}});
        at += n;
      }
    }
    out[path] = std::move(bytes);
  };
  for (const auto& [path, x] : removed_)
    if (!survives())
      add(path, *x);
  for (const auto& [path, x] : files_)
    if (x->named || survives())
      add(path, *x); // replaces a removed file of that name
  return out;
}

disk_image simulated_disk::content() const {
  std::lock_guard hold{mutex_};
  disk_image out;
  for (const auto& [path, x] : files_) out[path] = x->now;
  return out;
}

uint64_t simulated_disk::operations() const {
  std::lock_guard hold{mutex_};
  return operations_;
}
uint64_t simulated_disk::syncs() const {
  std::lock_guard hold{mutex_};
  return syncs_;
}
void simulated_disk::lose_power_at(uint64_t operation, std::function<void()> then) {
  std::lock_guard hold{mutex_};
  on_power_loss_ = std::move(then);
  last_ = operation;
}
bool simulated_disk::powerless() const {
  std::lock_guard hold{mutex_};
  return operations_ >= last_;
}
void simulated_disk::fail_with(int writes, int syncs) {
  std::lock_guard hold{mutex_};
  failing_writes_ = writes;
  failing_syncs_ = syncs;
}
void simulated_disk::fail_some(unsigned one_of, uint64_t seed) {
  std::lock_guard hold{mutex_};
  failing_one_of_ = one_of;
  random_.seed(seed);
}
void simulated_disk::hold_syncs(bool held) {
  std::lock_guard hold{mutex_};
  hold_ = held;
  changed_.notify_all();
}
bool simulated_disk::wait_for_held_sync() {
  std::unique_lock hold{mutex_};
  return changed_.wait_for(hold, patience, [this] { return held_ != 0; });
}

void simulated_disk::fail_writes_to(const std::string& file, int writes) {
  std::lock_guard hold{mutex_};
  files_.at(file)->failing_writes = writes;
}
bool simulated_disk::wait_until_closed() {
  std::unique_lock hold{mutex_};
  return changed_.wait_for(hold, patience, [this] { return open_ == 0; });
}

} // namespace headrace::detail::test
