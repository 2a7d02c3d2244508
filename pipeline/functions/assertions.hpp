#pragma once

#include "headrace/pipeline/functions/structure.hpp"

#include <vector>

/// Assertions whose results are not used hold all the same: they become part of what the traced
/// function gives.
namespace headrace::detail {

/// `x`, which fails for the rows for which the assertion fails. `assertion` is the result of a
/// function of `debugging.hpp`.
expr tied(const expr& x, const expr& assertion);

/// The assertions that this thread makes while a function is traced. Scopes lie within each other,
/// as the traced functions do.
class assertion_scope {
public:
  assertion_scope();
  ~assertion_scope();
  assertion_scope(const assertion_scope&) = delete;
  assertion_scope& operator=(const assertion_scope&) = delete;

  /// The innermost scope of this thread; null outside of traced functions.
  static assertion_scope* current() noexcept;
  void add(const expr& assertion) { made_.push_back(assertion); }
  const std::vector<expr>& made() const noexcept { return made_; }

private:
  assertion_scope* outer_;
  std::vector<expr> made_;
};

} // namespace headrace::detail
