#include "tests/runtime/process/child_body.hpp"

#include <cstdio>
#include <cstdlib>
#include <gtest/gtest.h>
#include <map>
#include <sstream>
#include <unistd.h>

namespace headrace::detail::test {
namespace {

constexpr auto variable = "HEADRACE_TEST_CHILD";
constexpr char separator = '\x1F';

std::map<std::string, child_body::function>& bodies() {
  static std::map<std::string, child_body::function> all;
  return all;
}

/// Runs a body before the first test, when all static objects exist and no thread was started.
class runs_bodies final : public testing::Environment {
  void SetUp() override {
    auto* wanted = std::getenv(variable);
    if (wanted == nullptr)
      return;
    std::vector<std::string> words;
    std::istringstream in{wanted};
    for (std::string word; std::getline(in, word, separator);) words.push_back(word);
    ::unsetenv(variable);
    auto f = bodies().at(words.at(0));
    words.erase(words.begin());
    auto code = f(words);
    std::fflush(nullptr);
    ::_exit(code);
  }
};

[[maybe_unused]] auto* const installed = testing::AddGlobalTestEnvironment(new runs_bodies);

} // namespace

child_body::child_body(std::string name, function f) : name_(std::move(name)) {
  bodies().emplace(name_, std::move(f));
}

child_process child_body::start(std::vector<std::string> args) const {
  auto wanted = std::string{variable} + "=" + name_;
  for (auto& arg : args) (wanted += separator) += arg;
  return child_process::start(
           {.argv = {"/proc/self/exe"}, .environment = {wanted}, .merge_stderr = true})
    .value();
}

void wait_for_ever() {
  for (;;) ::pause();
}

void say(const std::string& line) {
  std::printf("%s\n", line.c_str());
  std::fflush(stdout);
}

} // namespace headrace::detail::test
