#pragma once

#include "headrace/actors/protocol/split_receipt.hpp"
#include "headrace/pipeline/types/block.hpp"

#include <array>
#include <deque>
#include <map>
#include <memory>
#include <tuple>

namespace headrace {

/// Remembers of which splits rows reached somebody, a bit for each, in bounded memory: what does
/// not fit is remembered as more than came, never as less. A consumer keeps one for each stream,
/// of what came; a task keeps one, of what its readers handed out.
class reached_splits {
public:
  /// Bytes of bits are at most `most_chunks` times 512, and those of what is whole `most_runs`
  /// times 64.
  static constexpr size_t most_chunks = 4096;
  static constexpr size_t most_runs = 16384;
  /// Passes of which single splits are remembered.
  static constexpr size_t most_passes = 64;

  reached_splits() = default;
  reached_splits(reached_splits&&) = default;
  reached_splits& operator=(reached_splits&&) = default;

  /// Rows came. Of those without origins it is not known which splits they are from, so that the
  /// receipt says that nothing is known.
  void add(const block& rows);
  /// So many of the rows that came go back to their task.
  void give_back(uint64_t rows) { given_back_ += rows; }
  /// What came so far, of rows of that task, in so many runs at most.
  split_receipt receipt_of(task_id task, size_t most = most_receipt_runs) const;
  /// To be called when a receipt was acknowledged: nothing more comes.
  void clear() { *this = {}; }

private:
  static constexpr uint64_t chunk_splits = 4096;
  /// Pass, source, number of the chunk.
  using key = std::tuple<uint64_t, uint32_t, uint64_t>;
  struct chunk {
    std::array<uint64_t, chunk_splits / 64> bits{};
    uint32_t count = 0;
  };
  struct recent {
    key of{};
    chunk* bits = nullptr;
  };
  /// The first split after a run, by its first.
  using runs = std::map<uint64_t, uint64_t>;

  void add_range(uint32_t source, uint64_t pass, uint64_t first, uint64_t count);
  void set(uint32_t source, uint64_t pass, uint64_t number, uint64_t from, uint64_t to);
  chunk* find(const key& of);
  void fill(const key& of);
  void forget_passes(uint64_t newest);

  std::map<key, std::unique_ptr<chunk>> chunks_;
  std::deque<key> oldest_; ///< of the chunks; some of these may be full and gone
  std::map<std::pair<uint64_t, uint32_t>, runs> whole_; ///< by pass and source
  size_t whole_runs_ = 0;
  std::array<recent, 16> recent_{};
  uint64_t from_pass_ = 0;
  std::optional<split_run> newest_;
  bool approximate_ = false;
  bool unknown_ = false; ///< rows came of which nobody says where they are from
  uint64_t given_back_ = 0;
};

} // namespace headrace
