#include "headrace/pipeline/engine/open.hpp"
#include "headrace/pipeline/graph_codec/node_codec.hpp"
#include "headrace/pipeline/iterator/counter_random.hpp"
#include "headrace/pipeline/sources/files/record_index.hpp"
#include "headrace/pipeline/sources/split_cursor.hpp"
#include "headrace/runtime/base/crc32c.hpp"
#include "headrace/runtime/base/descriptors.hpp"

#include <algorithm>
#include <cerrno>
#include <fmt/format.h>
#include <glob.h>

namespace headrace::detail {

namespace {

/// The handler of errors of `glob`: a folder that cannot be read is skipped, as a shell does; but
/// without a free descriptor the search ends, because otherwise files would be left out silently.
int end_without_descriptors(const char*, int number) {
  return number == EMFILE || number == ENFILE ? 1 : 0;
}

/// True if `part` has characters that match more than themselves.
bool has_wildcards(std::string_view part) {
  for (size_t i = 0; i < part.size(); ++i)
    if (part[i] == '\\')
      ++i;
    else if (part[i] == '*' || part[i] == '?' || part[i] == '[')
      return true;
  return false;
}

/// A pattern that matches only `path`.
std::string as_pattern(std::string_view path) {
  std::string out;
  for (const char x : path) {
    if (x == '*' || x == '?' || x == '[' || x == '\\')
      out += '\\';
    out += x;
  }
  return out;
}

/// The end of the first part (between slashes) with wildcards; npos: there is no such part.
size_t end_of_wildcards(std::string_view pattern) {
  for (size_t begin = 0; begin < pattern.size();) {
    const auto end = std::min(pattern.find('/', begin), pattern.size());
    if (has_wildcards(pattern.substr(begin, end - begin)))
      return end;
    begin = end + 1;
  }
  return std::string_view::npos;
}

/// Appends the paths that match. `*` and `?` also match names that begin with a dot. `glob` finds
/// such names only in the last part of a pattern, so the parts with wildcards are matched one by
/// one.
status append_matches(const std::string& pattern, const std::stop_token& stop,
                      std::vector<std::string>& out) {
  const auto end = end_of_wildcards(pattern);
  const bool wild = end != std::string_view::npos;
  const auto head = pattern.substr(0, end);
  glob_t found{};
  int failed = 0;
  const auto looked = with_descriptors(
    [&] {
      ::globfree(&found);
      failed = ::glob(head.c_str(), GLOB_NOSORT | (wild ? GLOB_PERIOD : 0), end_without_descriptors,
                      &found);
      errno = EMFILE;
      return failed == GLOB_ABORTED ? -1 : 0;
    },
    stop);
  std::vector<std::string> paths;
  if (failed == 0)
    paths.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  ::globfree(&found);
  if (looked < 0)
    return resource_exhausted(
      fmt::format("list_files: cannot look for '{}': too many open files", pattern));
  if (failed != 0 && failed != GLOB_NOMATCH)
    return status{status_code::unknown, fmt::format("list_files: cannot look for '{}'", pattern)};
  for (auto& path : paths) {
    // The names `.` and `..`, and those of indices of record files, do not match wildcards.
    const auto name = std::string_view{path}.substr(path.rfind('/') + 1);
    if (wild && (name == "." || name == ".." || is_record_index(name)))
      continue;
    if (wild && end < pattern.size())
      HEADRACE_TRY(append_matches(as_pattern(path) + pattern.substr(end), stop, out));
    else
      out.push_back(std::move(path));
  }
  return {};
}

result<std::vector<std::string>> match(const std::string& pattern, const std::stop_token& stop) {
  std::vector<std::string> out;
  HEADRACE_TRY(append_matches(pattern, stop, out));
  return out;
}

/// A split is one file name. The files are listed when the first rows are requested.
class list_iterator final : public operator_iterator {
public:
  list_iterator(engine& shared, const dataset_node& node, place at, column patterns)
    : operator_iterator(shared, node), at_(std::move(at)), patterns_(std::move(patterns)) {}

protected:
  std::optional<block> produce(const limits& wanted) override {
    if (!splits_)
      if (auto listed = list(); !listed.ok())
        return last_failure(listed);
    auto more = splits_->here();
    if (!more)
      return last_failure(more.status());
    if (!*more)
      return std::nullopt;
    order();
    const auto now = **more;
    const auto rows = static_cast<size_t>(std::min<uint64_t>(wanted.rows, now.count));
    std::vector<std::string_view> views;
    for (size_t i = 0; i < rows; ++i) views.push_back(names_[now.first + i]);
    ++kernel_calls_;
    block out;
    out.rows = rows;
    out.columns.push_back(column::of_strings(views));
    if (splits_->provided())
      out.origins = {splits_->from(now.first, rows, rows == 1 ? 0 : 1)};
    splits_->pass(rows);
    return out;
  }
  // Saves as numbers: the numbers of `splits_`, a digest of the names, and 1 if the names are not
  // in the order of the pass yet. The files are listed for this if they were not listed before,
  // because an operator may hold rows from behind this position. Saves no numbers if they cannot be
  // listed.
  void save_to(position& to) const override {
    if (!splits_ && !list().ok())
      return;
    splits_->save_to(to);
    to.numbers.push_back(digest());
    if (!ordered_)
      to.numbers.push_back(1);
  }
  status restore_from(position_reader& from) override {
    if (from.empty())
      return {};
    HEADRACE_TRY(list());
    splits_->restore_from(from);
    const auto saved = from.number();
    if (!from.has_number() || !from.flag())
      order();
    if (saved != digest())
      return failed_precondition("the patterns match other files than when the position was saved");
    return {};
  }

private:
  status list() const {
    names_.clear();
    for (size_t i = 0; i < static_cast<size_t>(patterns_.total_values()); ++i) {
      HEADRACE_ASSIGN(auto found, match(std::string{patterns_.string(i)}, engine_.context().stop));
      names_.insert(names_.end(), std::make_move_iterator(found.begin()),
                    std::make_move_iterator(found.end()));
    }
    if (names_.empty())
      return nothing_matches();
    // The names are sorted bytewise, so that hosts which see the same files have the same list. A
    // file that matches two patterns is listed twice, as in tf.data.
    std::sort(names_.begin(), names_.end());
    // The listing is compared with the listings of other runs only in the first pass, because the
    // files may change between passes.
    const auto& same = engine_.context().same_listing;
    if (same && !at_.in_function() && !at_.whole && at_.iteration == 0)
      if (const auto how = same(at_.first_source, make_listing(names_)); !how)
        return how.that_ends_run();
    splits_.emplace(engine_, at_, names_.size(),
                    engine_.shares_splits(at_) ? make_listing(names_) : nullptr);
    return {};
  }

  status nothing_matches() const {
    std::vector<std::string_view> patterns;
    for (size_t i = 0; i < static_cast<size_t>(patterns_.total_values()); ++i)
      patterns.push_back(patterns_.string(i));
    return invalid_argument(
      fmt::format("list_files: no file matches '{}'", fmt::join(patterns, "' or '")));
  }

  uint64_t digest() const {
    uint64_t out = names_.size();
    for (const auto& name : names_)
      out = mix(out, crc32c(reinterpret_cast<const std::byte*>(name.data()), name.size()));
    return out;
  }

  // Shuffles the names, if the node requires that: differently in each pass, and equally on all
  // hosts.
  void order() {
    if (std::exchange(ordered_, true) || !node_.as<list_files_parameters>().shuffle)
      return;
    const auto key = mix(engine_.random_key(node_, at_), splits_->pass_key());
    counter_random random{mix(key, engine_.context().repetition)};
    for (size_t i = names_.size(); i > 1; --i)
      std::swap(names_[i - 1], names_[random.below(names_.size() - i, i)]);
  }

  place at_;
  column patterns_;
  mutable std::vector<std::string> names_; ///< mutable, as `save_to` may have to list the files
  bool ordered_ = false;
  mutable std::optional<split_cursor> splits_; ///< set when the files were listed
};

opened open_list_files(engine& shared, const dataset_ptr& node, const place& at) {
  HEADRACE_ASSIGN(auto values, shared.arguments(node, at));
  return std::unique_ptr<iterator>{
    std::make_unique<list_iterator>(shared, *node, at, std::move(values[0]))};
}

void encode_list_files(const dataset_node& node, node_writer& to) {
  const auto& own = node.as<list_files_parameters>();
  auto out = to.out.initListFiles();
  out.setPatterns(to.tensor(0));
  out.setShuffle(own.shuffle);
  write(own.seed, out.initSeed());
}

result<dataset_ptr> decode_list_files(node_reader& from) {
  const auto in = from.in.getListFiles();
  HEADRACE_ASSIGN(auto patterns, from.tensor(in.getPatterns()));
  return make_list_files(std::move(patterns), in.getShuffle(), seed_of(in.getSeed()));
}

bool shuffles_files(const dataset_node& node) { return node.as<list_files_parameters>().shuffle; }

} // namespace

constinit const operator_record list_files_record{
  .name = "list_files",
  .arm = schema::Dataset::LIST_FILES,
  .encode = encode_list_files,
  .decode = decode_list_files,
  .open = open_list_files,
  .rows = source_rows,
  .source = {.files = file_use::others, .splits = splits_of_rows},
  .draws_order = shuffles_files,
};

} // namespace headrace::detail
