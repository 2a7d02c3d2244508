#pragma once

#include "headrace/pipeline/engine/engine.hpp"
#include "headrace/pipeline/storage/memory_cache.hpp"
#include "headrace/pipeline/storage/row_packer.hpp"
#include "headrace/pipeline/storage/saved_reader.hpp"
#include "headrace/pipeline/storage/saved_writer.hpp"

/// Classes that keep the elements of a pass, in memory or in a folder, and classes that read them.
namespace headrace::detail {

/// Keeps the rows of a pass. If it is destroyed before `finish`, the rows are dropped.
class pass_sink {
public:
  virtual ~pass_sink() = default;
  /// @pre no row is an error row
  virtual status keep(const block& rows, uint64_t& kernel_calls) = 0;
  /// Completes the pass. @pre all of its rows were kept
  virtual status finish(uint64_t& kernel_calls) = 0;
};

class memory_sink final : public pass_sink {
public:
  /// `most_bytes`: the most bytes of rows that are kept, else `keep` fails; 0: unlimited.
  memory_sink(std::shared_ptr<memory_cache> to, const pass_place& pass, position_ptr begin,
              size_t most_bytes);
  status keep(const block& rows, uint64_t& kernel_calls) override;
  status finish(uint64_t& kernel_calls) override;

private:
  std::shared_ptr<memory_cache> to_;
  size_t most_bytes_, bytes_ = 0;
  row_packer packer_;
  std::shared_ptr<kept_rows> rows_;
};

class folder_sink final : public pass_sink {
public:
  /// `shard_of`: the function that returns the shard of each row; null: there is one shard.
  folder_sink(std::unique_ptr<saved_writer> to, std::shared_ptr<const compiled_function> shard_of)
    : to_(std::move(to)), shard_of_(std::move(shard_of)) {}
  status keep(const block& rows, uint64_t& kernel_calls) override;
  status finish(uint64_t& kernel_calls) override;

private:
  std::unique_ptr<saved_writer> to_;
  std::shared_ptr<const compiled_function> shard_of_;
};

/// Reads rows that are kept in memory.
class kept_cursor {
public:
  explicit kept_cursor(std::shared_ptr<const kept_rows> from) : from_(std::move(from)) {}
  const kept_rows& rows() const noexcept { return *from_; }
  uint64_t given() const noexcept { return given_; }
  std::optional<block> next(const limits& wanted);
  /// `data_loss` if there are fewer rows.
  status skip(uint64_t rows);

private:
  std::shared_ptr<const kept_rows> from_;
  size_t block_ = 0, row_ = 0;
  uint64_t given_ = 0;
};

/// Reads saved rows, shard after shard.
class saved_cursor {
public:
  explicit saved_cursor(saved_reader from) : from_(std::move(from)) {}
  uint64_t id() const noexcept { return from_.manifest().id; }
  uint64_t block() const noexcept { return block_; }
  uint64_t row() const noexcept { return row_; }
  result<std::optional<headrace::block>> next(const limits& wanted);
  /// `data_loss` if the saved rows are not those to which the position belongs.
  status go_to(uint64_t id, uint64_t block, uint64_t row);

private:
  saved_reader from_;
  uint64_t block_ = 0;                  ///< the number of the block that contains the next row
  uint64_t row_ = 0;                    ///< the index of the next row in that block
  std::optional<headrace::block> held_; ///< block `block_`, if it was read
};

} // namespace headrace::detail
