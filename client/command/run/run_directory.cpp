#include "headrace/client/command/run/run_directory.hpp"

#include "headrace/runtime/base/ids.hpp"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <unistd.h>

namespace headrace::detail::command {
namespace {

using nlohmann::json;

constexpr const char* first_part = "headrace-run";
constexpr const char* conflict = "conflict";
constexpr const char* unfinished = ".part";

enum class placing {
  replace,  ///< an existing file is replaced
  be_first, ///< an existing file is an error: `already_exists`
};

/// A new name for an unfinished file: a process of the run with that token writes the content of
/// `file` under this name, and renames the file when it is complete. The name has a random part,
/// because processes of different hosts may have the same process id.
std::string part_of(const std::string& file, const std::string& token) {
  return fmt::format("{}.{}-{}{}", file, token, to_hex(random_id()), unfinished);
}

status write_whole(const std::string& file, const std::string& text, const std::string& token,
                   placing how) {
  const auto part = part_of(file, token);
  const auto failed = [&](const std::string& name) {
    const auto code = errno;
    ::unlink(part.c_str());
    if (how == placing::be_first && code == EEXIST)
      return already_exists(name + " is there");
    return failed_precondition(fmt::format("cannot write {}: {}", name, std::strerror(code)));
  };
  const int fd = ::open(part.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0)
    return failed(part);
  const bool whole = ::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  // On a network file system, other hosts see the content only when it has reached the server.
  const bool kept = whole && ::fsync(fd) == 0;
  if (::close(fd) != 0 || !kept)
    return failed(file);
  if (how == placing::replace)
    return ::rename(part.c_str(), file.c_str()) == 0 ? status{} : failed(file);
  if (::link(part.c_str(), file.c_str()) == 0) {
    ::unlink(part.c_str());
    return {};
  }
  // Some file systems have no hard links.
  const bool none = errno == EPERM || errno == ENOSYS || errno == EOPNOTSUPP;
  if (none && ::access(file.c_str(), F_OK) == 0)
    errno = EEXIST;
  else if (none && ::rename(part.c_str(), file.c_str()) == 0)
    return {};
  return failed(file);
}

/// The content of a file; a discarded value if the file does not exist or is not valid JSON.
json read_json(const std::string& file) {
  constexpr size_t longest = 64 << 10;
  // O_NONBLOCK: opening a pipe with this name must not block.
  const int fd = ::open(file.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0)
    return json(json::value_t::discarded);
  std::string text(longest, '\0');
  const auto n = ::read(fd, text.data(), text.size());
  ::close(fd);
  text.resize(n > 0 ? static_cast<size_t>(n) : 0);
  return json::parse(text, nullptr, /*allow_exceptions=*/false);
}

std::string text_at(const json& in, const char* key) {
  return in.is_object() && in.contains(key) && in[key].is_string() ? in[key].get<std::string>()
                                                                   : "";
}

bool is_gone(const std::string& file) {
  return ::access(file.c_str(), F_OK) != 0 && errno == ENOENT;
}

/// Deletes `file` if it belongs to the run with that token. A process of the next run may replace
/// the file at any time. So the file is renamed and checked again before it is deleted, and is put
/// back if it belongs to another run.
void remove_if_of(const std::string& file, const std::string& token) {
  if (text_at(read_json(file), "token") != token)
    return;
  const auto aside = part_of(file, token);
  if (::rename(file.c_str(), aside.c_str()) != 0)
    return;
  // Without hard links in the file system, the file is put back by another rename. If the next run
  // has written a second, newer file in the meantime, the rename replaces that file.
  if (text_at(read_json(aside), "token") != token && ::link(aside.c_str(), file.c_str()) != 0
      && errno != EEXIST && ::rename(aside.c_str(), file.c_str()) == 0)
    return;
  ::unlink(aside.c_str());
}

std::string file_name(const std::string& job) {
  std::string out = first_part;
  if (!job.empty())
    out += "-";
  for (const char x : job)
    out += std::isalnum(static_cast<unsigned char>(x)) != 0 || x == '-' ? x : '_';
  return out;
}

std::string text_of(const run_progress& how, const std::string& token) {
  return json{{"token", token},
              {"state", how.state},
              {"host", how.host},
              {"workers", how.workers},
              {"process", how.process}}
           .dump()
         + "\n";
}

/// Not ok if `file` exists and is not a regular file that belongs to this user or root. The owner
/// of the file determines the address to which the programs of this run connect.
status check_file(const std::string& file) {
  struct stat about {};
  if (::stat(file.c_str(), &about) != 0)
    return {};
  if (!S_ISREG(about.st_mode))
    return failed_precondition(file + " is there and is no file");
  return about.st_uid == ::geteuid() || about.st_uid == 0
           ? status{}
           : failed_precondition(file + " belongs to another user");
}

} // namespace

run_directory::run_directory(std::string path, const std::string& job)
  : path_(std::move(path)), file_(path_ + "/" + file_name(job)) {}

std::string run_directory::file_of(int rank) const { return fmt::format("{}.{}", file_, rank); }

bool run_directory::is_of(const std::string& job) const {
  const auto name = file_name(job);
  const auto own = std::filesystem::path{file_}.filename().string();
  return !job.empty() && (own == name || own.starts_with(name + "-"));
}

status run_directory::publish(const run_service& what, const std::string& replaced) const {
  std::error_code code;
  std::filesystem::create_directories(path_, code);
  if (code)
    return failed_precondition(fmt::format("cannot make {}: {}", path_, code.message()));
  const auto text =
    json{{"service", what.address}, {"host", what.host}, {"token", what.token}}.dump() + "\n";
  auto how = write_whole(file_, text, what.token, placing::be_first);
  if (how.code() != status_code::already_exists)
    return how;
  HEADRACE_ASSIGN(const auto there, service());
  // On a network file system the call above may have created the file although it returned an
  // error, because the answer of the file server was lost.
  if (there && there->token == what.token)
    return {};
  // The file of another run is an error. A file with the token `replaced`, which a killed run has
  // left, or a file that belongs to no run is replaced.
  if (there && there->token != replaced)
    return already_exists(fmt::format("{} is that of another run, which began at the same time, "
                                      "with the service at {} (host {})",
                                      file_, there->address, there->host));
  ::unlink(file_.c_str());
  return write_whole(file_, text, what.token, placing::be_first);
}

result<std::optional<run_service>> run_directory::service() const {
  std::error_code code;
  if (std::filesystem::exists(path_, code) && !std::filesystem::is_directory(path_, code))
    return invalid_argument(path_ + " is no directory");
  HEADRACE_TRY(check_file(file_));
  const auto in = read_json(file_);
  run_service out{text_at(in, "service"), text_at(in, "host"), text_at(in, "token")};
  if (out.address.empty() || out.token.empty())
    return std::optional<run_service>{};
  return std::optional{std::move(out)};
}

status run_directory::claim(int rank, const run_progress& how, const std::string& token) const {
  const auto file = file_of(rank);
  const auto text = text_of(how, token);
  // A file of an earlier run is removed. Another process may create or remove the file at the same
  // time, so there are several tries.
  constexpr int tries = 3;
  status out;
  for (int i = 0; i < tries; ++i) {
    HEADRACE_TRY(check_file(file));
    out = write_whole(file, text, token, placing::be_first);
    if (out.code() != status_code::already_exists)
      return out;
    const auto there = read_json(file);
    if (text_at(there, "process") == how.process)
      return {};
    if (text_at(there, "token") == token)
      return already_exists(
        fmt::format("rank {} of the run in {} has come already, on the host {}, and it is {}", rank,
                    file_, text_at(there, "host"), text_at(there, "state")));
    ::unlink(file.c_str());
  }
  return out;
}

status run_directory::write(int rank, const run_progress& how, const std::string& token) const {
  const auto file = file_of(rank);
  // A file that exists and cannot be read does not show that another run has begun.
  const auto is_over = [&] {
    const auto now = text_at(read_json(file_), "token");
    return now.empty() ? is_gone(file_) : now != token;
  };
  if (is_over())
    return {};
  const auto is_mine = [&] {
    const auto there = read_json(file);
    return text_at(there, "token") == token && text_at(there, "process") == how.process;
  };
  if (!is_mine())
    return {};
  // Rank 0 may be deleting the files of the run, including the unfinished file of this call. Its
  // call of `remove` deletes them twice, so the write is repeated up to twice.
  auto written = write_whole(file, text_of(how, token), token, placing::replace);
  for (int again = 0; again < 2 && !written.ok() && !is_over() && !is_gone(file); ++again)
    written = write_whole(file, text_of(how, token), token, placing::replace);
  if (!written.ok())
    return is_over() || is_gone(file) ? status{} : written;
  if (is_over() && is_mine())
    ::unlink(file.c_str());
  return {};
}

std::map<int, run_progress> run_directory::progress(int size, const std::string& token) const {
  std::map<int, run_progress> out;
  for (int rank = 0; rank < size; ++rank) {
    const auto in = read_json(file_of(rank));
    if (text_at(in, "token") != token || !in.contains("workers")
        || !in["workers"].is_number_integer())
      continue;
    out[rank] = {text_at(in, "state"), text_at(in, "host"), in["workers"].get<int>(),
                 text_at(in, "process")};
  }
  return out;
}

void run_directory::remove(int size, const std::string& token) const {
  if (const auto now = service(); !now || !*now || (*now)->token != token)
    return;
  const auto remove_others = [&] {
    for (int rank = 0; rank < size; ++rank) remove_if_of(file_of(rank), token);
    remove_if_of(fmt::format("{}.{}", file_, conflict), token);
    // Also deletes the unfinished files of processes that were killed while they wrote them.
    std::error_code code;
    for (const auto& one : std::filesystem::directory_iterator{path_, code})
      if (const auto name = one.path().string();
          name.starts_with(file_ + ".") && name.find("." + token + "-") != std::string::npos
          && name.ends_with(unfinished))
        ::unlink(name.c_str());
  };
  remove_others();
  remove_if_of(file_, token);
  // The second call deletes files that were written in the meantime. The files of a new run that
  // has begun in the directory are kept, because they have another token.
  remove_others();
}

void run_directory::dispute(const std::string& token) const {
  // A failed write is ignored: the callers return the error about the two runs in any case.
  (void)write_whole(fmt::format("{}.{}", file_, conflict), json{{"token", token}}.dump() + "\n",
                    token, placing::replace);
}

bool run_directory::disputed(const std::string& token) const {
  return text_at(read_json(fmt::format("{}.{}", file_, conflict)), "token") == token;
}

std::vector<run_directory> run_directory::runs() const {
  std::vector<run_directory> out;
  std::error_code code;
  for (const auto& one : std::filesystem::directory_iterator{path_, code}) {
    const auto name = one.path().filename().string();
    if (!name.starts_with(first_part) || name.find('.') != std::string::npos)
      continue;
    out.push_back(*this);
    out.back().file_ = path_ + "/" + name;
  }
  std::ranges::sort(out, {}, &run_directory::file);
  return out;
}

std::string run_directory::doubts() const {
  struct stat about {};
  if (::stat(path_.c_str(), &about) != 0)
    return "";
  if (about.st_uid != ::geteuid() && about.st_uid != 0)
    return fmt::format("{} belongs to another user, who can say where the programs of this run "
                       "connect",
                       path_);
  if ((about.st_mode & S_IWOTH) != 0 && (about.st_mode & S_ISVTX) == 0)
    return fmt::format("everybody can write to {}, and say where the programs of this run connect",
                       path_);
  return "";
}

} // namespace headrace::detail::command
