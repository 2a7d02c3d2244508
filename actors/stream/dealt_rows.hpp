#pragma once

#include "headrace/pipeline/types/block.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

namespace headrace::detail {

class block_forms;

/// Rows to send on several streams. They may be dropped before all these streams were sent them.
class shared_rows {
public:
  virtual ~shared_rows() = default;
  /// The rows; nullopt if they were dropped.
  virtual std::optional<block> get() const = 0;
  virtual size_t rows() const noexcept = 0;
  virtual size_t bytes() const noexcept = 0;
};

/// Rows to be dealt: a block, or a part of one that several streams share.
class dealt_rows {
public:
  dealt_rows() = default;
  dealt_rows(block rows) : own_(std::move(rows)), rows_(own_.rows) {} // NOLINT: implicit
  /// `forms`: the written forms of the whole block.
  dealt_rows(std::shared_ptr<const shared_rows> from, std::shared_ptr<block_forms> forms)
    : shared_(std::move(from)), forms_(std::move(forms)), rows_(shared_->rows()) {}

  size_t rows() const noexcept { return rows_; }
  /// For a part of shared rows this is an estimate, for which all rows count with the same size.
  size_t bytes() const noexcept {
    if (!shared_)
      return own_.bytes();
    return whole() ? shared_->bytes()
                   : static_cast<size_t>(static_cast<double>(shared_->bytes())
                                         * static_cast<double>(rows_)
                                         / static_cast<double>(shared_->rows()));
  }
  dealt_rows slice(size_t first, size_t count) const {
    auto out = *this;
    if (!shared_)
      out.own_ = own_.slice(first, count);
    out.first_ += first;
    out.rows_ = count;
    return out;
  }
  /// The rows; nullopt if they were dropped.
  std::optional<block> get() const {
    if (!shared_)
      return own_;
    auto out = shared_->get();
    if (out && !whole())
      out = out->slice(first_, rows_);
    return out;
  }
  /// The written forms; null for a part of a block, or if no other stream is sent these rows.
  std::shared_ptr<block_forms> forms() const { return whole() ? forms_ : nullptr; }

private:
  bool whole() const noexcept { return !shared_ || rows_ == shared_->rows(); }

  block own_;
  std::shared_ptr<const shared_rows> shared_;
  std::shared_ptr<block_forms> forms_;
  size_t first_ = 0; ///< offset in the shared rows
  size_t rows_ = 0;
};

} // namespace headrace::detail
