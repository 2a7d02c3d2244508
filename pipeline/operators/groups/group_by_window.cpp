#include "headrace/pipeline/graph_codec/node_codec.hpp"
#include "headrace/pipeline/operators/groups/nested_rows.hpp"
#include "headrace/pipeline/operators/groups/open_groups.hpp"
#include "headrace/pipeline/operators/rows/simple_iterator.hpp"

#include <fmt/format.h>

namespace headrace::detail {

namespace {

int64_t number_at(const block& rows, size_t column, size_t row) {
  return rows.columns[column].values<int64_t>()[row];
}

/// The rows of the input are (key, element) or (key, size, element). An error row is in no group:
/// it is returned as soon as the rows before it were put into groups.
class groups_iterator final : public operator_iterator {
public:
  groups_iterator(engine& shared, const dataset_node& node, std::unique_ptr<iterator> input)
    : operator_iterator(shared, node), input_(std::move(input)) {}

protected:
  std::optional<block> produce(const limits& wanted) override {
    while (fill(wanted)) {
      auto out = take(wanted.rows);
      input_.release_before(groups_.empty() ? reached() : groups_.oldest());
      if (!out.empty())
        return join(out);
      if (engine_.stopped())
        return last_failure(cancelled("the iteration was stopped"));
    }
    if (node_.as<group_parameters>().drop_remainder || groups_.empty())
      return std::nullopt;
    std::vector<block> rest;
    while (rest.size() < wanted.rows && !groups_.empty()) {
      const auto key = groups_.begin()->first;
      rest.push_back(give(key, groups_.take(key, kernel_calls_)));
    }
    input_.release_before(groups_.empty() ? reached() : groups_.oldest());
    return join(rest);
  }
  // Saves the number of rows to read again, which begin with the oldest held row; then the groups;
  // then the point of the input at the oldest held row.
  void save_to(position& to) const override {
    const auto oldest = groups_.empty() ? reached() : groups_.oldest();
    to.numbers.push_back(reached() - oldest);
    groups_.save_to(to);
    put(to, input_.point(oldest));
  }
  status restore_from(position_reader& from) override {
    auto again = from.number();
    const auto wanted = open_groups::saved_counts(from, again);
    HEADRACE_TRY(input_.restore(from));
    constexpr uint64_t most = 4096;
    while (again != 0) {
      const auto first = input_.rows();
      auto in = input_.next({.rows = static_cast<size_t>(std::min(most, again))});
      if (!in)
        break;
      again -= in->rows;
      for (auto& [key, runs] : by_key(*in))
        if (auto at = wanted.find(key); at != wanted.end()) {
          put_rows(*in, key, runs, first);
          groups_.keep_last(key, at->second); // earlier rows of the key were returned
        }
    }
    for (const auto& [key, rows] : wanted)
      if (again != 0 || groups_.rows_of(key) != rows)
        return data_loss("the data is not what it was when the position was saved");
    return {};
  }

private:
  /// The size of each group; 0: a column of the input contains the sizes.
  int64_t window_size() const { return node_.as<group_parameters>().size; }
  size_t leading() const { return window_size() == 0 ? 2 : 1; }

  // The number of the next row that is put into a group.
  uint64_t reached() const { return input_.rows() - (in_.rows - next_); }

  // Reads rows into `in_` if all its rows were used. False: the input has ended. The number of rows
  // to read is estimated from the groups so far, so that about `wanted.rows` groups become
  // complete.
  bool fill(const limits& wanted) {
    if (next_ < in_.rows)
      return true;
    if (ended_)
      return false;
    constexpr uint64_t most = 1024;
    const auto a_group = given_ == 0 ? 1 : std::clamp<uint64_t>(reached() / given_, 1, most);
    const auto rows = std::max<uint64_t>(wanted.rows, std::min(wanted.rows * a_group, most));
    auto more = input_.next({static_cast<size_t>(rows), wanted.bytes});
    next_ = 0;
    ended_ = !more;
    in_ = more ? *std::move(more) : block{};
    return !ended_;
  }

  std::map<int64_t, std::vector<row_run>> by_key(const block& in) const {
    std::map<int64_t, std::vector<row_run>> out;
    for (uint32_t row = 0; row < in.rows; ++row)
      if (!in.error_at(row))
        append_run(out[number_at(in, 0, row)], {0, row, 1});
    return out;
  }

  block elements(const block& in) const {
    auto out = in;
    out.columns.erase(out.columns.begin(),
                      out.columns.begin() + static_cast<std::ptrdiff_t>(leading()));
    return out;
  }

  void put_rows(const block& in, int64_t key, const std::vector<row_run>& runs, uint64_t first) {
    groups_.put(key, elements(in), runs, first, kernel_calls_);
  }

  // Puts rows of `in_` into their groups until `most` output rows are complete, and returns these:
  // a row for each complete group, and each error row.
  std::vector<block> take(size_t most) {
    std::vector<block> out;
    // For each key, `fresh` has the rows of `in_` that are not in `groups_` yet, and `rows` the
    // number of rows in the group together with these.
    std::map<int64_t, std::vector<row_run>> fresh;
    std::map<int64_t, uint64_t> rows;
    const auto& in = in_;
    const auto first = input_.rows() - in.rows;
    for (; next_ < in.rows && out.size() < most; ++next_) {
      const auto row = static_cast<uint32_t>(next_);
      if (const auto* why = in.error_at(row)) {
        out.push_back(failed(in, row, *why));
        continue;
      }
      const auto key = number_at(in, 0, row);
      const auto size = window_size() != 0 ? window_size() : number_at(in, 1, row);
      if (size < 1) {
        out.push_back(failed(in, row,
                             invalid_argument(fmt::format("group_by_window: the window size of "
                                                          "key {} is {}; it must be at least 1",
                                                          key, size))));
        continue;
      }
      auto& held = rows.try_emplace(key, groups_.rows_of(key)).first->second;
      append_run(fresh[key], {0, row, 1});
      if (++held < static_cast<uint64_t>(size))
        continue;
      held = 0;
      out.push_back(
        give(key, groups_.take(key, elements(in), std::move(fresh[key]), kernel_calls_)));
      fresh.erase(key);
    }
    for (const auto& [key, runs] : fresh) put_rows(in, key, runs, first);
    given_ += out.size();
    return out;
  }

  block failed(const block& in, size_t row, const status& why) const {
    auto out = failure(why);
    append_origins(out.origins, in.origins, row, 1);
    return out;
  }

  static block give(int64_t key, const block& rows) {
    const row_range all{0, rows.rows};
    auto out = nest_rows(rows, {&all, 1});
    out.columns.insert(out.columns.begin(), column::of_scalars(std::span<const int64_t>{&key, 1}));
    return out;
  }

  block join(const std::vector<block>& pieces) {
    std::vector<const block*> views;
    std::vector<row_run> runs;
    for (const auto& piece : pieces) {
      runs.push_back({static_cast<uint32_t>(views.size()), 0, 1});
      views.push_back(&piece);
    }
    return gather_rows(views, runs, kernel_calls_);
  }

  held_input input_;
  block in_; ///< the rows that were read last; those from `next_` on are in no group yet
  size_t next_ = 0;
  uint64_t given_ = 0; ///< the number of rows that were returned
  open_groups groups_;
  bool ended_ = false;
};

void encode_groups(const dataset_node& node, node_writer& to) {
  const auto& own = node.as<group_parameters>();
  auto out = to.over_input(to.out.initGroupByWindow());
  out.setSize(own.size);
  out.setDropRemainder(own.drop_remainder);
}

result<dataset_ptr> decode_groups(node_reader& from) {
  const auto in = from.in.getGroupByWindow();
  HEADRACE_ASSIGN(auto rows, from.input(in.getInput()));
  return make_groups(std::move(rows), in.getSize(), in.getDropRemainder());
}

} // namespace

constinit const operator_record group_by_window_record{
  .name = "group_by_window",
  .arm = schema::Dataset::GROUP_BY_WINDOW,
  .encode = encode_groups,
  .decode = decode_groups,
  .open = open_over_input<groups_iterator>,
  .rows = {.mixed = true},
};

} // namespace headrace::detail
