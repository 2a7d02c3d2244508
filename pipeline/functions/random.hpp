#pragma once

#include "headrace/pipeline/functions/expr.hpp"

#include <concepts>
#include <optional>

/// Random numbers that depend only on a seed. A seed is a vector of two integers, which may be
/// computed for each element, as in `stack({name, index})`. The generator is Philox4x32-10; its
/// numbers are the same on every machine. Uniform numbers have the same bits as those of
/// TensorFlow's functions of the same names with its default algorithm on CPUs; normal numbers
/// differ from TensorFlow's in the last places.
namespace headrace::random {

/// Uniform numbers in `[low, high)`. Floats are computed as `u * (high - low) + low` in their
/// dtype, with `u` in [0, 1); 16-bit floats are computed in float32 and rounded. Integers are int32
/// or int64; `low >= high` is then an error of the row.
expr stateless_uniform(const extents& dims, const expr& seed, const expr& low = 0.0f,
                       const expr& high = 1.0f, std::optional<dtype> type = std::nullopt);
expr stateless_normal(const extents& dims, const expr& seed, const expr& mean = 0.0f,
                      const expr& deviation = 1.0f, dtype type = dtype::float32);
/// Normal numbers. A number that is two deviations or more from the mean is dropped, and another
/// one is drawn.
expr stateless_truncated_normal(const extents& dims, const expr& seed, const expr& mean = 0.0f,
                                const expr& deviation = 1.0f, dtype type = dtype::float32);
/// Draws `samples` indices (int64) from each line of `logits`, which are unnormalised
/// log-probabilities along the last axis. The result has the draws along its last axis. A line
/// without any finite value is an error of the row.
expr stateless_categorical(const expr& logits, int64_t samples, const expr& seed);
/// A seed for each element, for the functions above, which differs between iterations. It is
/// derived from the seed of the run, the place of the operator in the graph, the split from which
/// the element descends (if workers share the splits) and the number of the element at the
/// operator. Equal `salt`s in one function give equal seeds. There are seeds only for the elements
/// of `map`, `filter`, `take_while` and `scan`: elsewhere (arguments of sources) this is an error.
///
/// If `same_in_each_iteration` is true, the seeds depend only on the salt, the pass, the split and
/// the number of the element, provided that all seeds of the function have this property, and that
/// the operator is not in a dataset that another function makes.
///
///     random::stateless_normal({8}, random::element_seed(1))
expr element_seed(int64_t salt, bool same_in_each_iteration = false);
/// A seed that is made of `seed` and `data`. The numbers drawn from it are independent of the
/// numbers drawn from `seed`.
expr fold_in(const expr& seed, int64_t data);

} // namespace headrace::random
