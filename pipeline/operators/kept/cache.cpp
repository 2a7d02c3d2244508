#include "headrace/pipeline/composed/cardinality_dataset.hpp"
#include "headrace/pipeline/engine/open.hpp"
#include "headrace/pipeline/engine/openings.hpp"
#include "headrace/pipeline/graph_codec/graph_codec.hpp"
#include "headrace/pipeline/graph_codec/node_codec.hpp"
#include "headrace/pipeline/operators/kept/kept_pass.hpp"
#include "headrace/pipeline/operators/kept/unopened_caches.hpp"
#include "headrace/pipeline/storage/saved_manifest.hpp"
#include "headrace/runtime/base/ids.hpp"

#include <fmt/format.h>

namespace headrace::detail {

namespace {

/// Returns the elements of the kept pass, if there is one. Otherwise returns the elements of the
/// input, and keeps them unless it is in a function or its folder holds a pass already.
class cache_iterator final : public operator_iterator {
public:
  cache_iterator(engine& shared, dataset_ptr node, place at, std::string folder,
                 std::shared_ptr<const compiled_function> shard_of)
    : operator_iterator(shared, *node),
      self_(std::move(node)),
      at_(std::move(at)),
      folder_(std::move(folder)),
      shard_of_(std::move(shard_of)),
      memory_(shared.memory_of(node_, at_)),
      below_(shared, node_, at_),
      openings_(shared, *node_.inputs[0]) {}

protected:
  std::optional<block> produce(const limits& wanted) override {
    if (!kept_ && !saved_ && !read_by_ && !input_)
      if (auto failed = begin(); !failed.ok())
        return last_failure(failed.with_context(to_string(node_.op)));
    if (kept_)
      return kept_->next(wanted);
    if (saved_) {
      auto out = saved_->next(wanted);
      if (!out)
        return last_failure(out.status().with_context(to_string(node_.op)));
      return *std::move(out);
    }
    if (read_by_)
      return read_by_->next(wanted);
    auto in = input_->next(wanted);
    if (auto failed = in ? keep(*in) : finish(); !failed.ok())
      return last_failure(failed.with_context(to_string(node_.op)));
    return in;
  }

  // Saves the `kind` of the pass as the first number, then values that depend on the kind.
  // saved_pass, which is read from a folder: the id of the saved elements, and the block and row of
  // the next row. saved_pass_by_reader: the id; as a part the position of the second input, which
  // reads the elements.
  // whole_pass, which is kept in memory or is being kept: the pass, the number of returned rows
  // and, if the order depends on time, `pass_place::order`; as a part the position at its
  // beginning. passed_on, a pass of the input that is not kept: the pass; as a part the position of
  // the input. not_begun: as parts the caches below, and the input, if it was opened after the
  // position; the last number is `promised_`, if elements are kept in a folder.
  void save_to(position& to) const override {
    const auto pass = [&](const pass_place& x) {
      for (auto n : {x.seed, x.repetition, x.path, x.iteration}) to.numbers.push_back(n);
    };
    const auto whole = [&](const pass_place& x, uint64_t rows, const position_ptr& begin) {
      to.numbers = {whole_pass};
      pass(x);
      to.numbers.push_back(rows);
      if (openings_.keeps())
        to.numbers.push_back(x.order);
      to.parts = {begin};
    };
    if (kept_) {
      whole(kept_->rows().from, kept_->given(), kept_->rows().begin);
    } else if (saved_) {
      to.numbers = {saved_pass, saved_->id(), saved_->block(), saved_->row()};
    } else if (read_by_) {
      to.numbers = {saved_pass_by_reader, read_id_};
      to.parts = {read_by_->save()};
    } else if (!input_) {
      // As soon as a pass is kept, by any iterator, this iterator returns that pass.
      if (const auto kept = pass_to_give(); kept && !openings_.planned()) {
        whole(kept->from, 0, kept->begin);
      } else {
        to.numbers = {not_begun};
        below_.save_to(to);
        openings_.save_to(to);
        promise();
        if (promised_)
          to.numbers.push_back(*promised_);
      }
    } else if (sink_ || published_) {
      whole(pass_, given_, begin_);
    } else {
      to.numbers = {passed_on};
      pass(pass_);
      to.parts = {input_->save()};
    }
  }

  status restore_from(position_reader& from) override {
    const auto what = from.number(last_kind);
    if (what == not_begun) {
      below_.restore(from);
      openings_.restore(from);
      if (from.has_number()) // older builds did not save this number
        promised_ = from.number();
      return {};
    }
    if (what == saved_pass_by_reader) {
      if (node_.inputs.size() < 2) {
        from.refuse();
        return {};
      }
      const auto id = from.number();
      HEADRACE_ASSIGN(const auto found, read_saved(folder_));
      if (found.id != id && from.fits())
        return data_loss("the saved elements are not those of when the position was saved");
      HEADRACE_TRY(open_reader(found));
      return from.restore(*read_by_);
    }
    if (what == saved_pass) {
      const auto id = from.number(), number = from.number(), row = from.number();
      HEADRACE_ASSIGN(auto reader, saved_reader::open(folder_, node_.spec));
      saved_.emplace(std::move(reader));
      return saved_->go_to(id, number, row);
    }
    pass_place pass;
    for (auto* n : {&pass.seed, &pass.repetition, &pass.path, &pass.iteration}) *n = from.number();
    if (what == passed_on) {
      HEADRACE_TRY(open_input(pass));
      return from.restore(*input_);
    }
    const auto rows = from.number();
    if (openings_.keeps() && from.has_number()) // older builds did not save this number
      pass.order = from.number();
    const auto begin = from.part();
    if (!from.fits() || !begin) {
      from.refuse();
      return {};
    }
    return go_on({pass, begin}, rows);
  }

private:
  enum kind : uint8_t {
    not_begun,
    whole_pass,
    saved_pass,
    passed_on,
    saved_pass_by_reader,
    last_kind = saved_pass_by_reader
  };

  /// The pass that this cache must return again, see `engine::pass_of`. nullopt also if elements
  /// are kept in a folder, and for a cache in a function, which keeps nothing.
  std::optional<kept_pass> pass_to_give() const {
    return memory_ && !at_.in_function() ? engine_.pass_of(*memory_) : std::nullopt;
  }

  status begin() {
    // If the saved iterator opened the input after the position, this iterator must read the same
    // pass of the input, even if another pass is kept by now.
    const bool planned = openings_.planned();
    if (const auto kept = pass_to_give(); kept && !planned)
      return go_on(*kept, 0);
    std::optional<saved_manifest> found;
    if (!at_.in_function() && !folder_.empty()) {
      HEADRACE_ASSIGN(found, find_saved(folder_));
      if (!planned && promised_.value_or(0) != 0 && (!found || found->id != *promised_))
        return data_loss("the saved elements are not those of when the position was saved");
      if (found && !planned && promised_ != 0) {
        if (node_.inputs.size() > 1)
          return open_reader(*found);
        HEADRACE_ASSIGN(auto reader, saved_reader::open(folder_, node_.spec));
        saved_.emplace(std::move(reader));
        return {};
      }
    }
    const auto& run = engine_.context();
    HEADRACE_TRY(
      open_input({run.seed, run.repetition, at_.path, at_.iteration, order_of_this_reading()}));
    HEADRACE_TRY(openings_.add(input_.get()));
    begin_ = input_->save();
    // A folder that holds a pass already is not written again.
    return at_.in_function() || found ? status{} : open_sink();
  }

  /// Decides whether the saved elements of the folder are returned, before the first row: an
  /// operator may hold rows from behind a position at which nothing was read.
  void promise() const {
    if (promised_ || folder_.empty() || at_.in_function() || openings_.planned())
      return;
    if (const auto found = find_saved(folder_))
      promised_ = *found ? (*found)->id : 0;
  }

  /// Continues a pass at its row number `rows`: from memory if the pass is kept, else from the
  /// input.
  status go_on(const kept_pass& pass, uint64_t rows) {
    if (const auto whole = memory_ ? memory_->whole() : nullptr;
        whole && whole->from == pass.from) {
      kept_.emplace(whole);
      return kept_->skip(rows);
    }
    auto again = pass.from;
    again.order = order_of_this_reading();
    HEADRACE_TRY(open_input(again));
    HEADRACE_TRY(input_->restore(*pass.begin));
    begin_ = input_->save(); // as `pass.begin`, but stored with the choices of this new `input_`
    // Later passes must return the same elements as this pass, so they repeat these choices.
    if (const auto known = pass_to_give(); known && known->from == pass.from)
      engine_.set_pass_of(*memory_, kept_pass{pass_, begin_});
    HEADRACE_TRY(open_sink());
    constexpr uint64_t most = 4096;
    while (given_ < rows) {
      const auto in =
        input_->next({static_cast<size_t>(std::min(most, rows - given_)), limits{}.bytes});
      if (!in)
        return data_loss("the data is not what it was when the position was saved");
      HEADRACE_TRY(keep(*in));
    }
    return {};
  }

  uint64_t order_of_this_reading() const { return openings_.keeps() ? random_id() : 0; }

  status open_reader(const saved_manifest& found) {
    HEADRACE_ASSIGN(read_by_, engine_.make_input(self_, at_, 1));
    read_id_ = found.id;
    return {};
  }

  status open_input(const pass_place& pass) {
    pass_ = pass;
    auto inside = at_;
    inside.path = pass.path;
    inside.iteration = pass.iteration;
    const auto& run = engine_.context();
    auto* by = &engine_;
    if (pass.seed != run.seed || pass.repetition != run.repetition) {
      // The pass belongs to an earlier iteration, which had other random numbers.
      as_then_ = std::make_unique<earlier_run>(run, engine_.options());
      as_then_->context.seed = pass.seed;
      as_then_->context.repetition = pass.repetition;
      by = as_then_->shared.get();
    }
    HEADRACE_ASSIGN(input_, by->make_input(self_, inside));
    return {};
  }

  status open_sink() {
    if (folder_.empty()) {
      sink_ = std::make_unique<memory_sink>(
        memory_, pass_, begin_, static_cast<size_t>(node_.as<cache_parameters>().most_bytes));
      return {};
    }
    const auto* snapshot = node_.find<snapshot_parameters>();
    const auto compression = snapshot ? snapshot->compression : saved_compression::none;
    HEADRACE_ASSIGN(auto writer, saved_writer::open(folder_, node_.spec, {compression, false}));
    sink_ = std::make_unique<folder_sink>(std::move(writer), shard_of_);
    return {};
  }

  status keep(const block& rows) {
    given_ += rows.rows;
    // A pass with an error row is not kept. The next pass is kept, unless it has an error row, too.
    if (!rows.errors.empty())
      sink_.reset();
    return sink_ ? sink_->keep(rows, kernel_calls_) : status{};
  }

  status finish() {
    const auto out = sink_ ? sink_->finish(kernel_calls_) : status{};
    published_ = published_ || (sink_ && folder_.empty());
    sink_.reset();
    return out;
  }

  struct earlier_run {
    earlier_run(const iterator_context& run, const graph_options& options)
      : context(run), shared(std::make_shared<engine>(context, options)) {}
    iterator_context context;
    std::shared_ptr<engine> shared;
  };

  dataset_ptr self_;
  place at_;
  std::string folder_;
  std::shared_ptr<const compiled_function> shard_of_; ///< may be null
  std::shared_ptr<memory_cache> memory_;              ///< null: elements are kept in a folder
  const unopened_caches below_;
  openings openings_;
  // Set while a kept pass is being read.
  std::optional<kept_cursor> kept_;
  std::optional<saved_cursor> saved_;
  std::unique_ptr<iterator> read_by_; ///< the second input, which reads a saved pass
  uint64_t read_id_ = 0;              ///< the id of the saved pass that `read_by_` reads
  /// The id of the saved elements that are returned, or 0 if the input is read. Unset if a position
  /// was not saved before the first row.
  mutable std::optional<uint64_t> promised_;
  /// The engine that `input_` uses in a pass of an earlier iteration; null in other passes. It must
  /// outlive `input_`.
  std::unique_ptr<earlier_run> as_then_;
  std::unique_ptr<iterator> input_;
  // The pass of the input that is being read, its beginning, and the number of returned rows.
  pass_place pass_;
  position_ptr begin_;
  uint64_t given_ = 0;
  /// Null: the elements are not kept, or all of them are kept already.
  std::unique_ptr<pass_sink> sink_;
  bool published_ = false; ///< all elements are published in memory
};

opened open_cache(engine& shared, const dataset_ptr& node, const place& at) {
  const auto* snapshot = node->find<snapshot_parameters>();
  auto folder = snapshot ? snapshot->folder : node->as<cache_parameters>().folder;
  if (!folder.empty() && shared.context().splits != nullptr && !at.in_function())
    return failed_precondition(
      fmt::format("{}: '{}' cannot be written where workers share the elements (dynamic): each has "
                  "only some of them; read it once without the service, as what it holds when "
                  "`distribute` is called is shared, or save the dataset first and load it",
                  to_string(node->op), folder));
  std::shared_ptr<const compiled_function> shard_of;
  if (snapshot) {
    HEADRACE_ASSIGN(const auto name, fingerprint(node->inputs[0]));
    folder += "/" + name;
  }
  if (node->body) {
    HEADRACE_ASSIGN(shard_of, shared.compiled(*node));
  }
  return std::unique_ptr<iterator>{
    std::make_unique<cache_iterator>(shared, node, at, std::move(folder), std::move(shard_of))};
}

void encode_cache(const dataset_node& node, node_writer& to) {
  const auto& own = node.as<cache_parameters>();
  auto out = to.over_input(to.out.initCache());
  out.setFolder(text_of(own.folder));
  out.setMostBytes(own.most_bytes);
}

result<dataset_ptr> decode_cache(node_reader& from) {
  const auto in = from.in.getCache();
  HEADRACE_ASSIGN(auto rows, from.input(in.getInput()));
  return make_cache(std::move(rows), string_of(in.getFolder()), in.getMostBytes());
}

constexpr std::string_view keeps_in_folder =
  "keeps elements in a folder, which takes one run of all of them";

std::string_view cache_not_in_pieces(const dataset_node& node) {
  return node.as<cache_parameters>().folder.empty() ? std::string_view{} : keeps_in_folder;
}

std::string cache_not_run_again(const dataset_node& node, const broken_run& run, bool in_function) {
  const auto& folder = node.as<cache_parameters>().folder;
  return run.gave_rows && !folder.empty() && !in_function ? refused_folder(folder) : "";
}

std::string_view cache_not_read_again(const dataset_node& node, const reread_place& at) {
  if (at.in_function)
    return {};
  if (!node.as<cache_parameters>().folder.empty())
    return "a worker's folder stands in for the splits that others are to read again; put the "
           "cache behind the distribute";
  return at.repeated ? "later passes come from the memory of the worker that read the first one, "
                       "and are lost with it; put the cache behind the distribute"
                     : "";
}

std::string shown_cache(const dataset_node& node) {
  const auto& folder = node.as<cache_parameters>().folder;
  return folder.empty() ? "memory" : folder;
}

void encode_snapshot(const dataset_node& node, node_writer& to) {
  const auto& own = node.as<snapshot_parameters>();
  auto out = to.over_input(to.out.initSnapshot());
  out.setFolder(text_of(own.folder));
  out.setCompression(static_cast<schema::SavedDataset::Compression>(own.compression));
  out.setShard(node.body ? to.body() + 1 : 0);
  out.setReader(node.inputs.size() > 1 ? to.input(1) + 1 : 0);
}

result<saved_compression> saved_compression_in(schema::SavedDataset::Compression x) {
  if (x > schema::SavedDataset::Compression::GZIP)
    return unknown_value("compression of saved elements", static_cast<uint16_t>(x));
  return static_cast<saved_compression>(x);
}

result<dataset_ptr> decode_snapshot(node_reader& from) {
  const auto in = from.in.getSnapshot();
  HEADRACE_ASSIGN(auto rows, from.input(in.getInput()));
  function_ptr shard;
  if (in.getShard() != 0) {
    HEADRACE_ASSIGN(shard, from.body(in.getShard() - 1));
  }
  HEADRACE_ASSIGN(const auto how,
                  in_operator(dataset_op::snapshot, saved_compression_in(in.getCompression())));
  dataset_ptr reader;
  if (in.getReader() != 0) {
    HEADRACE_ASSIGN(reader, from.input(in.getReader() - 1));
  }
  return make_snapshot(std::move(rows), string_of(in.getFolder()), how, std::move(shard),
                       std::move(reader));
}

std::string snapshot_not_run_again(const dataset_node& node, const broken_run& run, bool) {
  return run.gave_rows ? refused_folder(node.as<snapshot_parameters>().folder) : "";
}

std::string_view snapshot_not_read_again(const dataset_node&, const reread_place&) {
  return "a worker's folder stands in for the splits that others are to read again; save the "
         "elements first, and load them";
}

std::string shown_snapshot(const dataset_node& node) {
  return node.as<snapshot_parameters>().folder;
}

} // namespace

constinit const operator_record cache_record{
  .name = "cache",
  .arm = schema::Dataset::CACHE,
  .encode = encode_cache,
  .decode = decode_cache,
  .open = open_cache,
  .cardinality = cardinality_of_input,
  .pieces = {.rule = piece_rule::kept, .not_in_pieces = cache_not_in_pieces},
  .not_run_again = cache_not_run_again,
  .not_read_again = cache_not_read_again,
  .shown = shown_cache,
};

constinit const operator_record snapshot_record{
  .name = "snapshot",
  .arm = schema::Dataset::SNAPSHOT,
  .encode = encode_snapshot,
  .decode = decode_snapshot,
  .open = open_cache,
  .whole_input = 1, // the reader of a complete snapshot
  .pieces = {piece_rule::whole, keeps_in_folder},
  .not_run_again = snapshot_not_run_again,
  .not_read_again = snapshot_not_read_again,
  .shown = shown_snapshot,
};

} // namespace headrace::detail
