#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace headrace::detail::test {

/// A file for `--config`, named after the test, which is removed with the object.
class config_file {
public:
  explicit config_file(const std::string& text)
    : name_(testing::TempDir() + "headrace_"
            + testing::UnitTest::GetInstance()->current_test_info()->name() + ".toml") {
    std::ofstream{name_} << text;
  }
  ~config_file() { std::filesystem::remove(name_); }
  config_file(const config_file&) = delete;
  config_file& operator=(const config_file&) = delete;
  const std::string& name() const { return name_; }

private:
  std::string name_;
};

} // namespace headrace::detail::test
