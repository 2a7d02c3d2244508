#pragma once

#include "headrace/actors/protocol/split_receipt.hpp"
#include "headrace/pipeline/types/block.hpp"

#include <array>
#include <deque>
#include <map>
#include <memory>
#include <tuple>

namespace headrace {

/// Records the splits of which rows reached a reader, with one bit for each split, in bounded
/// memory: where the memory is short, more splits are recorded than were reached, never fewer. A
/// consumer has one for each stream, of the rows that it received; a task has one, of the rows that
/// its readers were handed.
class reached_splits {
public:
  /// The bits take at most `most_chunks` times 512 bytes, and the runs of splits that were all
  /// reached at most `most_runs` times 64 bytes.
  static constexpr size_t most_chunks = 4096;
  static constexpr size_t most_runs = 16384;
  /// Single splits are recorded of so many passes at most.
  static constexpr size_t most_passes = 64;

  reached_splits() = default;
  reached_splits(reached_splits&&) = default;
  reached_splits& operator=(reached_splits&&) = default;

  /// Records the splits of rows that arrived. For rows without origins these are unknown, so that
  /// the receipt reports that nothing is known.
  void add(const block& rows);
  /// Records that this many of the rows were given back to their task.
  void give_back(uint64_t rows) { given_back_ += rows; }
  /// A receipt for the rows so far, which came from that task, with at most `most` runs.
  split_receipt receipt_of(task_id task, size_t most = most_receipt_runs) const;
  /// To be called when a receipt was acknowledged, as no more rows will arrive.
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
  /// Maps the first split of a run to the split after the run.
  using runs = std::map<uint64_t, uint64_t>;

  void add_range(uint32_t source, uint64_t pass, uint64_t first, uint64_t count);
  void set(uint32_t source, uint64_t pass, uint64_t number, uint64_t from, uint64_t to);
  chunk* find(const key& of);
  void fill(const key& of);
  void forget_passes(uint64_t newest);

  std::map<key, std::unique_ptr<chunk>> chunks_;
  std::deque<key> oldest_; ///< in the order of their creation; some may be full and deleted
  std::map<std::pair<uint64_t, uint32_t>, runs> whole_; ///< by pass and source
  size_t whole_runs_ = 0;
  std::array<recent, 16> recent_{};
  uint64_t from_pass_ = 0;
  std::optional<split_run> newest_;
  bool approximate_ = false;
  bool unknown_ = false; ///< rows arrived whose splits are unknown
  uint64_t given_back_ = 0;
};

} // namespace headrace
