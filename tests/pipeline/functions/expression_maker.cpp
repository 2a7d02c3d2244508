#include "tests/pipeline/functions/expression_maker.hpp"

#include "headrace/pipeline/functions/control.hpp"
#include "headrace/pipeline/functions/debugging.hpp"
#include "headrace/pipeline/functions/image.hpp"
#include "headrace/pipeline/functions/lookup.hpp"
#include "headrace/pipeline/functions/math.hpp"
#include "headrace/pipeline/functions/ragged.hpp"
#include "headrace/pipeline/functions/random.hpp"
#include "headrace/pipeline/functions/sequences.hpp"

namespace headrace::detail::test {

expr_structure expression_maker::make(size_t functions) {
  while (functions != 0) {
    try {
      pool_.push_back(any());
      --functions;
    } catch (const error&) {
      continue;
    }
  }
  std::vector<expr_structure> results;
  for (size_t i = 0; i < 4; ++i) results.emplace_back(pool_[pool_.size() - 1 - i]);
  results.emplace_back(pick());
  return expr_structure::tuple(results);
}

expr expression_maker::any() {
  const auto x = pick();
  const auto y = below(3) == 0 ? small() : pick();
  switch (below(16)) {
  case 0: return numeric(x, y);
  case 1: return logical(x, y);
  case 2: return moved(x);
  case 3: return ordered(x);
  case 4:
  case 5: return text(x);
  case 6: return parsed(x);
  case 7: return drawn(x);
  case 8: return chosen(x, y);
  case 9: return pictured(x);
  case 10: return extended(x);
  default: return common(x, y);
  }
}

expr expression_maker::common(const expr& x, const expr& y) {
  switch (below(28)) {
  case 0: return x + y;
  case 1: return x - y;
  case 2: return x * y;
  case 3: return x / y;
  case 4: return x % y;
  case 5: return floor_div(x, y);
  case 6: return floor_mod(x, y);
  case 7: return minimum(x, y);
  case 8: return maximum(x, y);
  case 9: return -x;
  case 10: return abs(x);
  case 11: return x < y;
  case 12: return x == y;
  case 13: return where(pick(), x, y);
  case 14: return where(x > y, x, y);
  case 15: return cast<int32_t>(x);
  case 16: return cast<float>(x);
  case 17: return cast<uint8_t>(x);
  case 18: return cast<float16>(x);
  case 19: return reduce_sum(x);
  case 20: return reduce_max(x, {-1}, true);
  case 21: return x[static_cast<int>(below(4))];
  case 22: return x.slice({at::ellipsis(), at::range(0, 3, 2)});
  case 23: return stack({x, x});
  case 24: return concat({x, pick()}, 0);
  case 25: return transpose(x);
  case 26: return gather(x, cast<int64_t>(pick()));
  default: return cast<int64_t>(x);
  }
}

expr expression_maker::numeric(const expr& x, const expr& y) {
  switch (below(14)) {
  case 0: return pow(x, y);
  case 1: return square(x);
  case 2: return round(x);
  case 3: return ceil(x);
  case 4: return sign(x);
  case 5: return cos(x);
  case 6: return log(x);
  case 7: return exp(x);
  case 8: return tanh(x);
  case 9: return sin(x);
  case 10: return floor(x);
  case 11: return sqrt(x);
  case 12: return clip_by_value(x, -1, 3);
  default: return cast<double>(x);
  }
}

expr expression_maker::logical(const expr& x, const expr& y) {
  switch (below(18)) {
  case 0: return is_nan(x);
  case 1: return x != y;
  case 2: return x <= y;
  case 3: return x >= y;
  case 4: return (x > y) && (x < small());
  case 5: return (x > y) || (x < small());
  case 6: return !(x < y);
  case 7: return x & y;
  case 8: return x | y;
  case 9: return x ^ y;
  case 10: return x << y;
  case 11: return x >> y;
  case 12: return reduce_mean(x, {axis()});
  case 13: return reduce_min(x);
  case 14: return reduce_prod(x, {axis()});
  case 15: return reduce_all(x < y);
  case 16: return reduce_any(x < y, {axis()});
  default: return below(2) == 0 ? argmax(x, axis()) : argmin(x, axis());
  }
}

expr expression_maker::moved(const expr& x) {
  switch (below(17)) {
  case 0: return reshape(x, {-1});
  case 1: return expand_dims(x, axis());
  case 2: return squeeze(x);
  case 3: return shape_of(x);
  case 4: return size(x);
  case 5: return may_grow() ? fill({2, 3}, x) : x[0];
  case 6: return may_grow() ? tile(x, {2}) : x[0];
  case 7: return may_grow() ? tile(x, {1, 3}) : x[0];
  case 8: return pad(x, {{1, 2}});
  case 9: return pad(x, {{0, 1}, {1, 0}}, pad_mode::reflect);
  case 10: return pad(x, {{2, 1}}, pad_mode::symmetric);
  case 11: return roll(x, {1}, {axis()});
  case 12: return reverse(x, {axis()});
  case 13: return slice(x, reshape(size(pick()) % 2, {1}), std::vector<int64_t>{-1});
  case 14: return slice(x, reshape(size(pick()) % 2, {1}), reshape(size(pick()) % 3, {1}));
  case 15: return ensure_shape(x, {3});
  default: return x.slice({at::new_axis(), at::ellipsis(), at::all(-1)});
  }
}

expr expression_maker::extended(const expr& x) {
  // In a few expressions `n` is negative, which is an error for some of these functions.
  const auto n =
    cast<int64_t>(reduce_max(cast<int32_t>(size(pick())) % 4)) - (below(6) == 0 ? 2 : 0);
  switch (below(10)) {
  case 0: return detail::range(int64_t{0}, n, int64_t{1});
  case 1: return detail::range(1.5f, 1.5f + cast<float>(n), 0.75f);
  case 2: return may_grow() ? fill({n, 2}, x) : x[0];
  case 3: return may_grow() ? tile(x, {n}) : x[0];
  case 4: return may_grow() ? tile(x, {n, 2}) : x[0];
  case 5: return reshape(x, {n, -1});
  case 6: return may_grow() ? repeat(x, n, axis()) : x[0];
  case 7: return slice_along(x, axis(), n - 1, std::nullopt);
  case 8: return true_places(x == pick());
  default: return slice_along(x, axis(), std::nullopt, n, below(2) == 0 ? 2 : -1);
  }
}

expr expression_maker::ordered(const expr& x) {
  switch (below(9)) {
  case 0: return one_hot(cast<int64_t>(x), 3);
  case 1: return sort(x, axis());
  case 2: return sort(x, -1, true);
  case 3: return argsort(x, axis(), below(2) == 0);
  case 4: return below(2) == 0 ? math::top_k(x, 2).values : math::top_k(x, 2).indices;
  case 5: return cumsum(x, axis());
  case 6: return math::cumprod(x, -1, true, true);
  case 7: return matmul(x, x, below(2) == 0, true);
  default: return matmul(x, pick());
  }
}

expr expression_maker::text(const expr& x) {
  switch (below(21)) {
  case 0: return strings::split(x);
  case 1: return strings::upper(x) + pick();
  case 2: return strings::length(x);
  case 3: return strings::reduce_join(below(2) == 0 ? x : strings::split(x), "/");
  case 4: return cast<float>(strings::to_number<int64_t>(x));
  case 5: return strings::as_string(x);
  case 6: return strings::lower(x);
  case 7: return strings::strip(x);
  case 8: return strings::split(x, " ");
  case 9: return may_grow() ? strings::split_padded(x, 2, "", "-") : x[0];
  case 10: return strings::regex_full_match(x, "[0-9 ]*");
  case 11: return strings::regex_replace(x, "([a-z])", "<\\1>", below(2) == 0);
  case 12: return strings::substr(x, small(), 2);
  case 13: return strings::length(x, strings::unit::utf8_chars);
  case 14: return strings::upper(x, strings::unit::utf8_chars);
  case 15: return strings::lower(x, strings::unit::utf8_chars);
  case 16: return strings::to_hash_bucket_fast(x, 97);
  case 17:
    return strings::ngrams(below(2) == 0 ? x : strings::split(x), 2, {.pad_values = {{"(", ")"}}});
  case 18: return strings::join({x, pick()}, "+");
  case 19: return strings::to_number<float>(x);
  default: return lookup::vocabulary_table({"12", "a", "b"}, 2).lookup(x);
  }
}

expr expression_maker::parsed(const expr& x) {
  const auto tokens = io::var_len_feature("n", dtype::int64);
  switch (below(4)) {
  case 0: return io::decode_raw<uint8_t>(x);
  case 1: return io::decode_raw<int16_t>(x);
  case 2: return io::parse_example(x, {tokens})["n"];
  default: return io::parse_sequence_example(x, {}, {tokens}).second["n"];
  }
}

expr expression_maker::seed_of(const expr& x) {
  return stack({cast<int64_t>(reduce_sum(x)), expr{int64_t{3}}});
}

expr expression_maker::drawn(const expr& x) {
  switch (below(6)) {
  case 0: return random::stateless_uniform({2}, seed_of(x));
  case 1: return random::stateless_normal({3}, seed_of(x));
  case 2: return random::stateless_truncated_normal({2, 1}, seed_of(x));
  case 3: return random::stateless_uniform({2}, seed_of(x), -3, cast<int32_t>(reduce_max(x)));
  case 4: return random::stateless_categorical(cast<float>(x), 2, seed_of(pick()));
  default: return random::fold_in(seed_of(x), 5);
  }
}

expr expression_maker::chosen(const expr& x, const expr& y) {
  switch (below(6)) {
  case 0: return debugging::assert_less(x, y);
  case 1: return debugging::check_numerics(x, "it");
  case 2:
    return cond(
      reduce_any(x > y), [&] { return 1 / x; }, [&] { return x; });
  case 3:
    return while_loop([](expr at) { return at < 20; },
                      [&](expr at) { return at * 2 + cast<int64_t>(size(x)) + 1; },
                      cast<int64_t>(reduce_max(x)), 6);
  case 4: return ragged{x, cast<int64_t>(y)}.to_tensor();
  default: {
    const lookup::table table{constant(std::vector<int64_t>{0, 2, 5}),
                              constant(std::vector<float>{1, 4, 0.5f}), expr{-1.0f}};
    return table.lookup(cast<int64_t>(x));
  }
  }
}

expr expression_maker::picture_of(const expr& x) {
  const auto lines = cast<uint8_t>(abs(x) % 255);
  return stack({lines, reverse(lines, {0}), 255 - lines}, 2);
}

expr expression_maker::pictured(const expr& x) {
  const auto picture = picture_of(x);
  switch (below(8)) {
  case 0: return image::resize(picture, 3, 2, image::method::bicubic, {.antialias = true});
  case 1: return image::resize(picture, 1, 4, image::method::nearest);
  case 2: return image::rgb_to_hsv(cast<float>(picture) / 255.0f);
  case 3: return image::hsv_to_rgb(cast<float>(picture) / 255.0f);
  case 4: return image::adjust_hue(picture, 0.2f);
  case 5: return image::adjust_saturation(picture, cast<float>(reduce_max(x)));
  case 6: return image::resize_with_crop_or_pad(picture, 1, 3);
  default: return image::decode_png(image::encode_png(picture));
  }
}

} // namespace headrace::detail::test
