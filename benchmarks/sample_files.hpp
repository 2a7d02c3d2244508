#pragma once

#include <headrace/headrace.hpp>

#include <filesystem>
#include <fstream>
#include <sqlite3.h>
#include <unistd.h>

/// Classes whose constructors write files in formats that sources read, and whose destructors
/// delete the files. The constructors throw `error` if the files cannot be written.
namespace headrace::detail::bench {

/// A folder that is removed with the object.
class sample_folder {
public:
  sample_folder()
    : path_((std::filesystem::temp_directory_path() / "headrace_bench_XXXXXX").string()) {
    if (!::mkdtemp(path_.data()))
      throw error{unavailable("cannot make the folder " + path_)};
  }
  ~sample_folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  sample_folder(const sample_folder&) = delete;
  sample_folder& operator=(const sample_folder&) = delete;
  const std::string& folder() const { return path_; }

private:
  std::string path_;
};

/// A SQLite file with a table `numbers`, which has one column of integers, `n`.
class number_table : sample_folder {
public:
  explicit number_table(int rows) {
    sqlite3* to = nullptr;
    const auto fill =
      "CREATE TABLE numbers (n INTEGER); WITH RECURSIVE c(n) AS (SELECT 0 UNION ALL "
      "SELECT n + 1 FROM c LIMIT "
      + std::to_string(rows) + ") INSERT INTO numbers SELECT n FROM c";
    const bool done = sqlite3_open(path().c_str(), &to) == SQLITE_OK
                      && sqlite3_exec(to, fill.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK;
    sqlite3_close(to);
    if (!done)
      throw error{unavailable("cannot write the table " + path())};
  }
  std::string path() const { return folder() + "/numbers.sqlite"; }
};

/// A tar archive of samples, each with one text file.
class text_archive : sample_folder {
public:
  explicit text_archive(int samples) {
    std::ofstream out{path(), std::ios::binary};
    for (int i = 0; i < samples; ++i) {
      constexpr size_t block = 512;
      std::string header(block, '\0'), body(block, '\0');
      const auto put = [&](size_t at, const std::string& text) {
        header.replace(at, text.size(), text);
      };
      put(0, "sample-" + std::to_string(i) + ".txt");
      put(100, "0000644");
      put(124, "00000000004"); // the size of the file in bytes, octal
      put(136, "00000000000");
      put(148, "        ");
      put(156, "0");
      put(257, std::string{"ustar\0"
                           "00",
                           8});
      unsigned sum = 0;
      for (const char c : header) sum += static_cast<unsigned char>(c);
      char digits[8];
      std::snprintf(digits, sizeof digits, "%06o", sum);
      put(148, digits);
      body.replace(0, 4, "text");
      out << header << body;
    }
    out << std::string(1024, '\0');
    if (!out.flush())
      throw error{unavailable("cannot write the archive " + path())};
  }
  std::string path() const { return folder() + "/samples.tar"; }
};

/// A path at which no folder exists yet; a folder that is made there is removed with the object.
class new_folder : sample_folder {
public:
  std::string path() const { return folder() + "/new"; }
};

/// A folder that `save` wrote.
class saved_folder : sample_folder {
public:
  explicit saved_folder(const dataset& what) { what.save(path()); }
  std::string path() const { return folder() + "/saved"; }
};

} // namespace headrace::detail::bench
