#include "headrace/pipeline/sources/make_listing.hpp"

#include "headrace/pipeline/iterator/counter_random.hpp"

#include <cstring>

namespace headrace::detail {

namespace {

/// A digest that is the same in every process.
uint64_t digest_of(const std::string& text) {
  uint64_t out = text.size();
  for (size_t at = 0; at < text.size(); at += sizeof(uint64_t)) {
    uint64_t word = 0;
    std::memcpy(&word, text.data() + at, std::min(sizeof(word), text.size() - at));
    out = mix(out, word);
  }
  return out;
}

} // namespace

std::shared_ptr<const split_listing> make_listing(std::vector<std::string> entries) {
  auto out = std::make_shared<split_listing>();
  out->count = out->digest = entries.size();
  size_t bytes = 0;
  for (const auto& entry : entries) {
    bytes += entry.size() + 1;
    out->digest = mix(out->digest, digest_of(entry));
  }
  if (bytes <= split_listing::most_bytes)
    out->entries = std::move(entries);
  return out;
}

} // namespace headrace::detail
