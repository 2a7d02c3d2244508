#pragma once

#include "headrace/pipeline/iterator/engine.hpp"

/// The openers of all operators and sources. `node` must be of the opener's kind.
namespace headrace::detail {

using opened = result<std::unique_ptr<iterator>>;

opened open_range(engine& shared, const dataset_ptr& node, const place& at);
opened open_slices(engine& shared, const dataset_ptr& node, const place& at); ///< also from_tensors
opened open_text_lines(engine& shared, const dataset_ptr& node, const place& at);
opened open_tfrecord(engine& shared, const dataset_ptr& node, const place& at);
opened open_list_files(engine& shared, const dataset_ptr& node, const place& at);
opened open_fixed_length(engine& shared, const dataset_ptr& node, const place& at);
opened open_csv(engine& shared, const dataset_ptr& node, const place& at);
opened open_json_lines(engine& shared, const dataset_ptr& node, const place& at);
opened open_sql(engine& shared, const dataset_ptr& node, const place& at);
opened open_tar_samples(engine& shared, const dataset_ptr& node, const place& at);
opened open_counter(engine& shared, const dataset_ptr& node, const place& at);
opened open_random(engine& shared, const dataset_ptr& node, const place& at);
opened open_generator(engine& shared, const dataset_ptr& node, const place& at);
opened open_map(engine& shared, const dataset_ptr& node, const place& at);
opened open_filter(engine& shared, const dataset_ptr& node, const place& at);
opened open_flat_map(engine& shared, const dataset_ptr& node, const place& at);
opened open_interleave(engine& shared, const dataset_ptr& node, const place& at);
opened open_batch(engine& shared, const dataset_ptr& node, const place& at);
opened open_shuffle(engine& shared, const dataset_ptr& node, const place& at);
opened open_repeat(engine& shared, const dataset_ptr& node, const place& at);
opened open_take(engine& shared, const dataset_ptr& node, const place& at);
opened open_skip(engine& shared, const dataset_ptr& node, const place& at);
opened open_prefetch(engine& shared, const dataset_ptr& node, const place& at);
opened open_enumerate(engine& shared, const dataset_ptr& node, const place& at);
opened open_zip(engine& shared, const dataset_ptr& node, const place& at);
opened open_concatenate(engine& shared, const dataset_ptr& node, const place& at);
opened open_global_shuffle(engine& shared, const dataset_ptr& node, const place& at);
opened open_distribute(engine& shared, const dataset_ptr& node, const place& at);
opened open_take_while(engine& shared, const dataset_ptr& node, const place& at);
opened open_shard(engine& shared, const dataset_ptr& node, const place& at);
opened open_unique(engine& shared, const dataset_ptr& node, const place& at);
opened open_ignore_errors(engine& shared, const dataset_ptr& node, const place& at);
opened open_assert_cardinality(engine& shared, const dataset_ptr& node, const place& at);
opened open_scan(engine& shared, const dataset_ptr& node, const place& at);
opened open_padded_batch(engine& shared, const dataset_ptr& node, const place& at);
opened open_window(engine& shared, const dataset_ptr& node, const place& at);
opened open_sample_from(engine& shared, const dataset_ptr& node, const place& at);
opened open_group_by_window(engine& shared, const dataset_ptr& node, const place& at);
opened open_ragged_batch(engine& shared, const dataset_ptr& node, const place& at);
opened open_single_element(engine& shared, const dataset_ptr& node, const place& at);
opened open_last_element(engine& shared, const dataset_ptr& node, const place& at);
opened open_choose_from(engine& shared, const dataset_ptr& node, const place& at);
opened open_sleep(engine& shared, const dataset_ptr& node, const place& at);
opened open_load(engine& shared, const dataset_ptr& node, const place& at);
opened open_cache(engine& shared, const dataset_ptr& node, const place& at); ///< also snapshot

} // namespace headrace::detail
