#pragma once

#include "headrace/actors/protocol/split_receipt.hpp"
#include "headrace/pipeline/types/block.hpp"

#include <array>
#include <deque>
#include <map>
#include <memory>
#include <tuple>

namespace headrace::detail {

/// Records the splits of which rows reached a reader, with one bit for each split, in bounded
/// memory. If the bounds do not suffice, splits that were not reached are recorded, too. Reached
/// splits are omitted only for passes before the receipt's `from_pass`. A consumer has one record
/// for each stream, of the rows that it received; a task has one record, of the rows that its
/// readers were handed.
class reached_splits {
public:
  /// The bits take at most `most_chunks` times 512 bytes. Runs of splits that were all reached take
  /// at most `most_runs` times 64 bytes.
  static constexpr size_t most_chunks = 4096;
  static constexpr size_t most_runs = 16384;
  /// The number of passes, counted back from the newest one, of which splits are recorded.
  static constexpr size_t most_passes = 64;

  reached_splits() = default;
  reached_splits(reached_splits&&) = default;
  reached_splits& operator=(reached_splits&&) = default;

  /// Records the splits of rows that arrived. If rows have no origins, their splits are unknown,
  /// and later receipts state that all splits are unknown.
  void add(const block& rows);
  /// Records that this number of rows was given back to the task.
  void give_back(uint64_t rows) { given_back_ += rows; }
  /// A receipt for the rows so far, which all came from that task. It has at most `most` runs, or
  /// one for each pass of each source if these are more.
  split_receipt receipt_of(task_id task, size_t most = most_receipt_runs) const;
  /// Frees the memory. To be called when a receipt was acknowledged: no rows arrive after that.
  void clear() { *this = {}; }

private:
  static constexpr uint64_t chunk_splits = 4096;
  /// The pass, the source and the number of the chunk.
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
  /// Keys of chunks in the order in which the chunks were made; some are not in `chunks_` any more.
  std::deque<key> oldest_;
  std::map<std::pair<uint64_t, uint32_t>, runs> whole_; ///< the runs by pass and source
  size_t whole_runs_ = 0;
  std::array<recent, 16> recent_{};
  uint64_t from_pass_ = 0;
  std::optional<split_run> newest_;
  bool approximate_ = false;
  bool unknown_ = false; ///< rows arrived whose splits are unknown
  uint64_t given_back_ = 0;
};

} // namespace headrace::detail
