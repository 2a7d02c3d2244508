#include "headrace/pipeline/codec/vocabulary_codec.hpp"

#include <fmt/format.h>

namespace headrace::detail {

status unknown_value(std::string_view what, uint16_t number) {
  return unimplemented(
    fmt::format("{} number {} is not known to this build; its sender is newer", what, number));
}

schema::ShardingPolicy to_schema(sharding_policy x) {
  switch (x) {
  case sharding_policy::off: return schema::ShardingPolicy::OFF;
  case sharding_policy::dynamic: return schema::ShardingPolicy::DYNAMIC;
  case sharding_policy::file: return schema::ShardingPolicy::FILE;
  case sharding_policy::data: return schema::ShardingPolicy::DATA;
  case sharding_policy::file_or_data: return schema::ShardingPolicy::FILE_OR_DATA;
  case sharding_policy::hint: return schema::ShardingPolicy::HINT;
  }
  return static_cast<schema::ShardingPolicy>(UINT16_MAX);
}

result<sharding_policy> from_schema(schema::ShardingPolicy x) {
  switch (x) {
  case schema::ShardingPolicy::OFF: return sharding_policy::off;
  case schema::ShardingPolicy::DYNAMIC: return sharding_policy::dynamic;
  case schema::ShardingPolicy::FILE: return sharding_policy::file;
  case schema::ShardingPolicy::DATA: return sharding_policy::data;
  case schema::ShardingPolicy::FILE_OR_DATA: return sharding_policy::file_or_data;
  case schema::ShardingPolicy::HINT: return sharding_policy::hint;
  }
  return unknown_value("sharding policy", static_cast<uint16_t>(x));
}

schema::TargetWorkers to_schema(target_workers x) {
  switch (x) {
  case target_workers::automatic: return schema::TargetWorkers::AUTOMATIC;
  case target_workers::any: return schema::TargetWorkers::ANY;
  case target_workers::local: return schema::TargetWorkers::LOCAL;
  }
  return static_cast<schema::TargetWorkers>(UINT16_MAX);
}

result<target_workers> from_schema(schema::TargetWorkers x) {
  switch (x) {
  case schema::TargetWorkers::AUTOMATIC: return target_workers::automatic;
  case schema::TargetWorkers::ANY: return target_workers::any;
  case schema::TargetWorkers::LOCAL: return target_workers::local;
  }
  return unknown_value("choice of workers", static_cast<uint16_t>(x));
}

schema::Guarantee to_schema(delivery_guarantee x) {
  switch (x) {
  case delivery_guarantee::at_most_once: return schema::Guarantee::AT_MOST_ONCE;
  case delivery_guarantee::at_least_once: return schema::Guarantee::AT_LEAST_ONCE;
  }
  return static_cast<schema::Guarantee>(UINT16_MAX);
}

result<delivery_guarantee> from_schema(schema::Guarantee x) {
  switch (x) {
  case schema::Guarantee::AT_MOST_ONCE: return delivery_guarantee::at_most_once;
  case schema::Guarantee::AT_LEAST_ONCE: return delivery_guarantee::at_least_once;
  }
  return unknown_value("guarantee", static_cast<uint16_t>(x));
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

schema::Files::Compression to_schema(file_compression x) {
  switch (x) {
  case file_compression::none: break;
  case file_compression::gzip: return schema::Files::Compression::GZIP;
  case file_compression::zlib: return schema::Files::Compression::ZLIB;
  }
  return schema::Files::Compression::NONE;
}

result<file_compression> from_schema(schema::Files::Compression x) {
  switch (x) {
  case schema::Files::Compression::NONE: return file_compression::none;
  case schema::Files::Compression::GZIP: return file_compression::gzip;
  case schema::Files::Compression::ZLIB: return file_compression::zlib;
  }
  return unknown_value("compression of files", static_cast<uint16_t>(x));
}

} // namespace headrace::detail
