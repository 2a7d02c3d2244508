#pragma once

#include "headrace/pipeline/functions/structure.hpp"

#include <vector>

/// Assertions are checked even if their results are not used: they become part of the results of
/// the traced function.
namespace headrace::detail {

/// The same value as `x`, but it fails in the rows in which the assertion fails. `assertion` is the
/// result of a function of `debugging.hpp`.
expr tied(const expr& x, const expr& assertion);

/// The assertions that this thread makes while a function is traced. Scopes are nested, as the
/// traced functions are.
class assertion_scope {
public:
  assertion_scope();
  ~assertion_scope();
  assertion_scope(const assertion_scope&) = delete;
  assertion_scope& operator=(const assertion_scope&) = delete;

  /// The innermost scope of this thread; null outside of traced functions.
  static assertion_scope* current() noexcept;
  void add(const expr& assertion) { made_.push_back({assertion, branches_}); }
  bool empty() const noexcept { return made_.empty(); }
  /// The same value as `x`, but it fails in the rows in which an assertion of this scope fails.
  expr tie_all(expr x) const;
  /// As above, for a structure: only its first expression fails in these rows.
  expr_structure tie_all(const expr_structure& x) const;

private:
  friend class assertion_branch;
  struct branch {
    expr condition;
    bool taken = true;
  };
  struct assertion {
    expr made;
    std::vector<branch> branches; ///< the branches in which it was made, the outermost first
  };
  assertion_scope* outer_;
  std::vector<assertion> made_;
  std::vector<branch> branches_; ///< the branches that are being traced, the outermost first
};

/// Assertions that are made during the lifetime of this object are checked only for rows in which
/// the value of `condition` equals `taken`.
class assertion_branch {
public:
  assertion_branch(const expr& condition, bool taken);
  ~assertion_branch();
  assertion_branch(const assertion_branch&) = delete;
  assertion_branch& operator=(const assertion_branch&) = delete;

private:
  assertion_scope* of_;
};

} // namespace headrace::detail
