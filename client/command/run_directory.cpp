#include "headrace/client/command/run_directory.hpp"

#include "headrace/runtime/base/ids.hpp"

#include <cctype>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <unistd.h>

namespace headrace::command {
namespace {

using nlohmann::json;

status write_whole(const std::string& file, const std::string& text) {
  // Processes of other hosts may have the same number.
  const auto part = fmt::format("{}.{}.part", file, to_hex(random_id()));
  const auto failed = [&](const std::string& name) {
    const auto why = std::string{std::strerror(errno)};
    ::unlink(part.c_str());
    return failed_precondition(fmt::format("cannot write {}: {}", name, why));
  };
  const int fd = ::open(part.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0)
    return failed(part);
  const bool whole = ::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  // Other hosts can read the file when it has reached the server of a network file system.
  if (!whole || ::fsync(fd) != 0 || ::close(fd) != 0 || ::rename(part.c_str(), file.c_str()) != 0)
    return failed(file);
  return {};
}

/// The content of a file; discarded: the file does not exist, or is incomplete.
json read_json(const std::string& file) {
  std::ifstream in{file};
  if (!in)
    return json(json::value_t::discarded);
  const std::string text{std::istreambuf_iterator<char>{in}, {}};
  return json::parse(text, nullptr, /*allow_exceptions=*/false);
}

std::string text_at(const json& in, const char* key) {
  return in.is_object() && in.contains(key) && in[key].is_string() ? in[key].get<std::string>()
                                                                   : "";
}

std::string file_name(const std::string& job) {
  std::string out = "headrace-run";
  if (!job.empty())
    out += "-";
  for (const char x : job)
    out += std::isalnum(static_cast<unsigned char>(x)) != 0 || x == '-' ? x : '_';
  return out;
}

} // namespace

run_directory::run_directory(std::string path, const std::string& job)
  : path_(std::move(path)), file_(path_ + "/" + file_name(job)) {}

std::string run_directory::file_of(int rank) const { return fmt::format("{}.{}", file_, rank); }

status run_directory::publish(const run_service& what) const {
  std::error_code code;
  std::filesystem::create_directories(path_, code);
  if (code)
    return failed_precondition(fmt::format("cannot make {}: {}", path_, code.message()));
  const json out{{"service", what.address}, {"host", what.host}, {"token", what.token}};
  return write_whole(file_, out.dump() + "\n");
}

result<std::optional<run_service>> run_directory::service() const {
  std::error_code code;
  if (std::filesystem::exists(path_, code) && !std::filesystem::is_directory(path_, code))
    return invalid_argument(path_ + " is no directory");
  // Users who can write to the directory decide to which service the programs of this run connect.
  struct stat about {};
  if (::stat(file_.c_str(), &about) == 0 && about.st_uid != ::geteuid() && about.st_uid != 0)
    return failed_precondition(file_ + " belongs to another user");
  const auto in = read_json(file_);
  run_service out{text_at(in, "service"), text_at(in, "host"), text_at(in, "token")};
  if (out.address.empty() || out.token.empty())
    return std::optional<run_service>{};
  return std::optional{std::move(out)};
}

status run_directory::write(int rank, const run_progress& how, const std::string& token) const {
  const auto now = service();
  if (!now || !*now || (*now)->token != token)
    return {}; // that run has ended
  const json out{
    {"token", token}, {"state", how.state}, {"host", how.host}, {"workers", how.workers}};
  return write_whole(file_of(rank), out.dump() + "\n");
}

std::map<int, run_progress> run_directory::progress(int size, const std::string& token) const {
  std::map<int, run_progress> out;
  for (int rank = 0; rank < size; ++rank) {
    const auto in = read_json(file_of(rank));
    if (text_at(in, "token") != token || !in.contains("workers")
        || !in["workers"].is_number_integer())
      continue;
    out[rank] = {text_at(in, "state"), text_at(in, "host"), in["workers"].get<int>()};
  }
  return out;
}

void run_directory::remove(int size, const std::string& token) const {
  if (const auto now = service(); !now || !*now || (*now)->token != token)
    return;
  for (int rank = 0; rank < size; ++rank) ::unlink(file_of(rank).c_str());
  ::unlink(file_.c_str());
}

} // namespace headrace::command
