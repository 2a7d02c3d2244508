#pragma once

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>

namespace headrace::detail::test {

/// A folder that is removed with the object.
class scratch_directory {
public:
  explicit scratch_directory(
    const std::filesystem::path& parent = std::filesystem::temp_directory_path()) {
    auto name = (parent / "headrace-test-XXXXXX").string();
    if (!::mkdtemp(name.data()))
      throw std::runtime_error("no temporary folder");
    path_ = name;
  }
  scratch_directory(const scratch_directory&) = delete;
  scratch_directory& operator=(const scratch_directory&) = delete;
  ~scratch_directory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  /// A folder in a file system in memory, where syncs cost nothing, or in the default place if
  /// there is no such file system.
  static std::unique_ptr<scratch_directory> in_memory() {
    const std::filesystem::path memory{"/dev/shm"};
    return std::filesystem::is_directory(memory) ? std::make_unique<scratch_directory>(memory)
                                                 : std::make_unique<scratch_directory>();
  }
  const std::string& path() const noexcept { return path_; }
  /// The path of a journal's folder in this folder. `file` is the path of the journal's file.
  std::string journal() const { return path_ + "/journal"; }
  std::string file() const { return journal() + "/journal.sqlite"; }

private:
  std::string path_;
};

} // namespace headrace::detail::test
