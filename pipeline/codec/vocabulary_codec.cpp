#include "headrace/pipeline/codec/vocabulary_codec.hpp"

#include <fmt/format.h>

namespace headrace {

status unknown_value(std::string_view what, uint16_t number) {
  return unimplemented(
    fmt::format("{} number {} is not known to this build; its sender is newer", what, number));
}

schema::ShardingPolicy to_schema(sharding_policy x) {
  switch (x) {
  case sharding_policy::off: return schema::ShardingPolicy::OFF;
  case sharding_policy::dynamic: return schema::ShardingPolicy::DYNAMIC;
  }
  return static_cast<schema::ShardingPolicy>(UINT16_MAX);
}

result<sharding_policy> from_schema(schema::ShardingPolicy x) {
  switch (x) {
  case schema::ShardingPolicy::OFF: return sharding_policy::off;
  case schema::ShardingPolicy::DYNAMIC: return sharding_policy::dynamic;
  }
  return unknown_value("sharding policy", static_cast<uint16_t>(x));
}

schema::Compression to_schema(compression x) {
  switch (x) {
  case compression::automatic: return schema::Compression::AUTO;
  case compression::none: return schema::Compression::NONE;
  case compression::snappy: return schema::Compression::SNAPPY;
  }
  return static_cast<schema::Compression>(UINT16_MAX);
}

result<compression> from_schema(schema::Compression x) {
  switch (x) {
  case schema::Compression::AUTO: return compression::automatic;
  case schema::Compression::NONE: return compression::none;
  case schema::Compression::SNAPPY: return compression::snappy;
  }
  return unknown_value("compression", static_cast<uint16_t>(x));
}

} // namespace headrace
