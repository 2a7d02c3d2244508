#pragma once

#include <headrace/runtime/base/status.hpp>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace headrace::detail::bench {

/// A folder that is removed with the object.
class temporary_folder {
public:
  temporary_folder()
    : path_((std::filesystem::temp_directory_path() / "headrace_bench_XXXXXX").string()) {
    if (::mkdtemp(path_.data()) == nullptr)
      throw error{unavailable("cannot make the folder " + path_)};
  }
  ~temporary_folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  temporary_folder(const temporary_folder&) = delete;
  temporary_folder& operator=(const temporary_folder&) = delete;

  const std::string& path() const { return path_; }

private:
  std::string path_;
};

} // namespace headrace::detail::bench
