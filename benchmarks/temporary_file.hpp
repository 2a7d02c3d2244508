#pragma once

#include <headrace/runtime/base/status.hpp>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

namespace headrace::detail::bench {

/// A file that is removed with the object.
class temporary_file {
public:
  /// `line(i)` returns line i, without a line end. Throws `error` if the file cannot be written.
  template <class Line>
  temporary_file(int64_t lines, Line&& line)
    : path_((std::filesystem::temp_directory_path() / "headrace_bench_XXXXXX").string()) {
    const auto fd = ::mkstemp(path_.data());
    auto* out = fd < 0 ? nullptr : ::fdopen(fd, "w");
    if (out == nullptr)
      throw error{unavailable("cannot make the file " + path_)};
    for (int64_t i = 0; i < lines; ++i) {
      const std::string text = line(i);
      std::fwrite(text.data(), 1, text.size(), out);
      std::fputc('\n', out);
    }
    if (std::fclose(out) != 0)
      throw error{unavailable("cannot write the file " + path_)};
  }
  ~temporary_file() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  temporary_file(const temporary_file&) = delete;
  temporary_file& operator=(const temporary_file&) = delete;

  const std::string& path() const { return path_; }

private:
  std::string path_;
};

} // namespace headrace::detail::bench
