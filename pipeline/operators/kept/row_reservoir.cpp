#include "headrace/pipeline/operators/kept/row_reservoir.hpp"

#include "headrace/pipeline/iterator/gather.hpp"

#include <deque>
#include <unordered_map>

namespace headrace::detail {

namespace {

constexpr size_t most_packed_bytes = 256;

/// The origins of single rows, by their places in a reservoir.
class slot_origins {
public:
  void set_input(const block& in) {
    input_.reset();
    if (!in.origins.empty())
      input_.emplace(in.origins);
    known_ = known_ || input_;
  }
  void put(size_t slot, size_t row) {
    if (known_)
      at(slot) = of(row);
  }
  void pass(size_t row) {
    if (known_)
      append_origin(out_, of(row));
  }
  void give(size_t slot, size_t last) {
    if (!known_)
      return;
    append_origin(out_, at(slot));
    at(slot) = at(last);
  }
  std::vector<origin> finish() { return std::exchange(out_, {}); }
  void arrange(const std::vector<uint32_t>& from) {
    if (!known_)
      return;
    std::vector<origin> moved;
    for (auto slot : from) moved.push_back(at(slot));
    slots_ = std::move(moved);
  }

private:
  origin& at(size_t slot) {
    if (slots_.size() <= slot)
      slots_.resize(slot + 1, origin{.rows = 1});
    return slots_[slot];
  }
  origin of(size_t row) {
    one_.clear();
    if (input_)
      input_->append(one_, static_cast<uint32_t>(row), 1);
    return one_.empty() ? origin{.rows = 1} : one_[0];
  }

  std::optional<origin_index> input_;
  bool known_ = false;
  std::vector<origin> slots_, one_, out_;
};

class packed_rows final : public row_reservoir {
public:
  explicit packed_rows(const std::vector<tensor_spec>& specs) {
    for (const auto& spec : specs)
      lanes_.push_back({spec, static_cast<size_t>(*spec.dims.elements()) * size_of(spec.type)});
  }

  void start(size_t rows) override {
    given_ = 0;
    capacity_ = 0;
    most_ = rows;
  }
  void set_input(const block& in) override {
    in_ = &in;
    origins_.set_input(in);
  }
  void put(size_t row) override {
    for (auto& lane : lanes_) {
      const auto end = (held_ + 1) * lane.width;
      if (lane.slots.size() < end)
        lane.slots.resize(std::max(end, lane.slots.size() * 2));
      const auto* from = in_->columns[index(lane)].value_buffer().data() + row * lane.width;
      copy(lane.slots.data() + held_ * lane.width, from, lane.width);
    }
    origins_.put(held_++, row);
  }
  void pass(size_t row) override {
    reserve();
    for (auto& lane : lanes_)
      if (lane.width != 0)
        std::memset(lane.out.data() + given_ * lane.width, 0, lane.width);
    errors_.push_back({static_cast<uint32_t>(given_++), *in_->error_at(row)});
    origins_.pass(row);
  }
  void give(size_t slot) override {
    reserve();
    const auto last = --held_;
    for (auto& lane : lanes_) {
      auto* place = lane.slots.data() + slot * lane.width;
      copy(lane.out.data() + given_ * lane.width, place, lane.width);
      if (slot != last)
        copy(place, lane.slots.data() + last * lane.width, lane.width);
    }
    ++given_;
    origins_.give(slot, last);
  }
  void prefetch(size_t slot) const override {
    for (const auto& lane : lanes_) __builtin_prefetch(lane.slots.data() + slot * lane.width, 1);
  }
  void arrange(const std::vector<uint32_t>& from) override {
    for (auto& lane : lanes_) {
      std::vector<std::byte> moved(lane.slots.size());
      for (size_t i = 0; i < from.size(); ++i)
        copy(moved.data() + i * lane.width, lane.slots.data() + from[i] * lane.width, lane.width);
      lane.slots = std::move(moved);
    }
    origins_.arrange(from);
  }
  block finish(uint64_t& kernel_calls) override {
    block out;
    out.rows = given_;
    for (auto& lane : lanes_) {
      ++kernel_calls;
      out.columns.push_back(column::dense(lane.spec.type, lane.spec.dims, given_,
                                          std::move(lane.out).freeze(given_ * lane.width)));
    }
    out.errors = std::exchange(errors_, {});
    out.origins = origins_.finish();
    return out;
  }

private:
  struct lane {
    tensor_spec spec;
    size_t width; ///< the bytes of a row
    std::vector<std::byte> slots = {};
    mutable_buffer out = {};
  };

  size_t index(const lane& l) const { return static_cast<size_t>(&l - lanes_.data()); }

  static void copy(std::byte* to, const std::byte* from, size_t width) {
    if (width == 8)
      std::memcpy(to, from, 8);
    else if (width == 4)
      std::memcpy(to, from, 4);
    else if (width != 0)
      std::memcpy(to, from, width);
  }

  // Makes room for one more row in the block that is being made.
  void reserve() {
    if (given_ < capacity_)
      return;
    constexpr size_t first = 4096;
    const auto bigger = capacity_ == 0 ? std::min(most_, first) : std::min(most_, capacity_ * 4);
    for (auto& lane : lanes_) {
      mutable_buffer out{bigger * lane.width};
      if (given_ * lane.width != 0)
        std::memcpy(out.data(), lane.out.data(), given_ * lane.width);
      lane.out = std::move(out);
    }
    capacity_ = bigger;
  }

  std::vector<lane> lanes_;
  const block* in_ = nullptr;
  size_t given_ = 0, capacity_ = 0, most_ = 0;
  std::vector<row_error> errors_;
  slot_origins origins_;
};

class referenced_rows final : public row_reservoir {
public:
  void start(size_t) override { given_.clear(); }
  void set_input(const block& in) override { input_ = std::make_shared<const block>(in); }
  void put(size_t row) override {
    slots_.push_back({input_, static_cast<uint32_t>(row)});
    ++held_;
    if (++since_ > 2 * held_ + 64)
      compact();
  }
  void pass(size_t row) override { given_.push_back({input_, static_cast<uint32_t>(row)}); }
  void give(size_t slot) override {
    given_.push_back(std::move(slots_[slot]));
    if (slot + 1 != slots_.size())
      slots_[slot] = std::move(slots_.back());
    slots_.pop_back();
    --held_;
  }
  void prefetch(size_t slot) const override { __builtin_prefetch(slots_.data() + slot, 1); }
  void arrange(const std::vector<uint32_t>& from) override {
    std::vector<reference> moved;
    for (auto slot : from) moved.push_back(slots_[slot]);
    slots_ = std::move(moved);
  }
  block finish(uint64_t& kernel_calls) override {
    auto out = gather(given_, kernel_calls);
    given_.clear();
    return out;
  }

private:
  struct reference {
    std::shared_ptr<const block> rows;
    uint32_t row;
  };

  static block gather(const std::vector<reference>& rows, uint64_t& kernel_calls) {
    std::vector<const block*> pieces;
    std::unordered_map<const block*, uint32_t> numbers;
    std::vector<row_run> runs;
    for (const auto& x : rows) {
      auto [at, fresh] = numbers.try_emplace(x.rows.get(), static_cast<uint32_t>(pieces.size()));
      if (fresh)
        pieces.push_back(x.rows.get());
      append_run(runs, {at->second, x.row, 1});
    }
    return gather_rows(pieces, runs, kernel_calls);
  }

  // Copies all held rows into one block, so that the blocks that contained them, of which few rows
  // may still be held, are freed.
  void compact() {
    since_ = 0;
    if (slots_.empty())
      return;
    uint64_t calls = 0;
    auto all = std::make_shared<const block>(gather(slots_, calls));
    for (uint32_t i = 0; i < slots_.size(); ++i) slots_[i] = {all, i};
  }

  std::shared_ptr<const block> input_;
  std::vector<reference> slots_, given_;
  size_t since_ = 0; ///< the number of rows that were put in since the last compaction
};

} // namespace

std::unique_ptr<row_reservoir> make_row_reservoir(const std::vector<tensor_spec>& specs) {
  size_t bytes = 0;
  bool packs = true;
  for (const auto& spec : specs) {
    const auto values = spec.dims.elements();
    packs = packs && values && !spec.is_dataset() && spec.type != dtype::string
            && *values <= static_cast<int64_t>(most_packed_bytes);
    if (packs)
      bytes += static_cast<size_t>(*values) * size_of(spec.type);
  }
  if (packs && bytes <= most_packed_bytes)
    return std::make_unique<packed_rows>(specs);
  return std::make_unique<referenced_rows>();
}

} // namespace headrace::detail
