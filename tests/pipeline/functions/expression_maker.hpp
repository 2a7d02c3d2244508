#pragma once

#include "tests/pipeline/functions/support.hpp"

#include <random>

namespace headrace::detail::test {

/// Builds random expressions with nearly all functions (the others: random_test.cpp), each from the
/// expressions made so far. Expressions that do not type-check are dropped.
class expression_maker {
public:
  expression_maker(uint64_t seed, std::vector<expr> start)
    : random_(seed), pool_(std::move(start)) {}

  /// Makes `functions` more expressions. Returns the last four of all, and a random one.
  expr_structure make(size_t functions);

private:
  size_t below(size_t n) { return random_() % n; }
  const expr& pick() { return pool_[below(pool_.size())]; }
  expr small() { return expr{static_cast<int>(below(7)) - 2}; }
  /// A random axis, from -1 to 1, so that many of the arrays have it.
  int64_t axis() { return static_cast<int64_t>(below(3)) - 1; }
  /// True if one more function that multiplies the number of values may be used. At most five of
  /// them may be used, because each multiplies the result of the previous one.
  bool may_grow() { return grown_ < 5 && ++grown_ != 0; }
  expr seed_of(const expr& x);
  expr picture_of(const expr& x);

  expr any();
  expr common(const expr& x, const expr& y);
  expr numeric(const expr& x, const expr& y);
  expr logical(const expr& x, const expr& y);
  expr moved(const expr& x);
  expr extended(const expr& x);
  expr ordered(const expr& x);
  expr text(const expr& x);
  expr parsed(const expr& x);
  expr drawn(const expr& x);
  expr chosen(const expr& x, const expr& y);
  expr pictured(const expr& x);

  std::mt19937_64 random_;
  std::vector<expr> pool_;
  size_t grown_ = 0;
};

} // namespace headrace::detail::test
