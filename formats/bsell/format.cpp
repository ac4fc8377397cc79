// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include <tcsolve/formats/bsell/operator.hpp>
#include <tcsolve/formats/format_factory.hpp>

namespace tcsolve {

/// Rows and columns of a dense block.
enum class BlockSize { best = 0, two = 2, three = 3, four = 4, six = 6 };
constexpr auto names(BlockSize) {
  return std::array{std::pair{BlockSize::best, "0"}, std::pair{BlockSize::two, "2"},
                    std::pair{BlockSize::three, "3"}, std::pair{BlockSize::four, "4"},
                    std::pair{BlockSize::six, "6"}};
}

namespace {

struct BsellParams {
  MatrixParams matrix;
  BlockSize block = BlockSize::best;
  static constexpr auto schema() {
    using P = BsellParams;
    return std::tuple{include(&P::matrix),
                      field(&P::block, "block",
                            "rows and columns of a dense block, the unknowns of a node; 0: the "
                            "one that stores the least")};
  }
};

void set_all(Features& f, BsellCount const& count) {
  BsellCounts counts;
  counts.fill(count);
  f.own.set(counts);
}

/// Dense blocks of bsell_blocks: a sample of a large matrix, four times. Counted only where a row
/// has eight entries in the mean and none has more than 4096 (of which one thread would have to
/// take six), else 0. Of a large matrix they are estimates (count_blocks).
constinit Fact const dense_fact{
    .name = "dense",
    .expect =
        [](Features& f) {
          if (f.entries < 8 * Offset{f.rows} || f.entries == 0 || f.longest > 4096) return false;
          BsellCounts counts;
          for (std::size_t k = 0; k < counts.size(); ++k) {
            Offset const positions = Offset{bsell_blocks[k]} * bsell_blocks[k];
            Offset const full = (f.entries + positions - 1) / positions;
            counts[k] = {full, full, 0};
          }
          f.own.set(counts);
          return true;
        },
    .look =
        [](Context& ctx, AnyCsr const& any, Features& f) {
          std::visit([&](auto const& a) { f.own.set(count_blocks(ctx, a)); }, any);
        },
    .doubt =
        [](Features& f) {
          set_all(f, {f.entries, 32 * f.entries, 32 * f.entries});
        },
    .gather =
        [](Features& f) {
          BsellCounts counts = f.own.get<BsellCounts>();
          for (BsellCount& c : counts) c.wide = 0;
          f.own.set(counts);
        }};

/// The block that stores the least, by what has been counted; 0: it has not been.
Index best_block(Survey const* seen, Real values) {
  if (seen == nullptr || !seen->knows(dense_fact)) return 0;
  Features const& f = seen->least();
  BsellCounts const& counts = f.own.get<BsellCounts>();
  if (counts == BsellCounts{}) return 0;
  return bsell_blocks[bsell_choice(counts, f.entries, double(size_of(values)))];
}

/// Exact where block rows are not sorted, else within a few percent: 16 bytes a slice, 4 a block
/// row for the order.
FormatLayout layout(Features const& f, Real values) {
  auto const s = double(size_of(values)), rows = double(f.rows);
  BsellCounts const& counts = f.own.get<BsellCounts>();
  std::size_t const k = bsell_choice(counts, f.entries, s);
  double const block_rows = std::ceil(rows / bsell_blocks[k]);
  return {.stored = bsell_bytes(counts[k], bsell_blocks[k], s) + 16 * std::ceil(block_rows / 32) +
                    (bsell_sorts(counts[k]) ? 4 * block_rows : 0),
          .slots = bsell_stored(counts[k]) * bsell_blocks[k] * bsell_blocks[k],
          .scratch = 16 * rows,
          .walked = double(f.longest)};
}

std::string refuses(Features const& f, PlanRequest const& request) {
  if (f.own.get<BsellCounts>() == BsellCounts{}) return "short rows, or a very long one";
  bool const pays = padding_pays(layout(f, request.values).slots, f.entries, 4096);
  return pays ? "" : "more than two positions an entry";
}

/// Where a tenth of the positions are padding, in blocks of 2 x 2.
double estimate(Real values, double rows, double entries) {
  return 1.1 * entries * (size_of(values) + 0.5) + 2 * rows;
}

class BsellFactory final : public FactoryOf<BsellParams> {
 public:
  using FactoryOf::FactoryOf;
  OperatorPtr<double> build(Context& ctx, Csr<double> const& a,
                            OperatorUse const& use) const override {
    BsellTuning tuning{.block = static_cast<Index>(params_.block)};
    if (tuning.block == 0) tuning.block = best_block(use.seen, values_);
    return rounded_operator<BsellOperator>(ctx, a, use, params_.matrix, tuning);
  }
};

std::vector<Variant> variants() {
  std::vector<Variant> all;
  for (Index const block : bsell_blocks)
    all.push_back({.name = cat("bsell, block ", block),
                   .makers = makers_of<BsellOperator>(BsellTuning{.block = block})});
  return all;
}

}  // namespace

Format bsell_format() {
  auto const counted = [](Survey const* seen, Real values) {
    return BsellTuning{.block = best_block(seen, values)};
  };
  return {.name = "bsell",
          .doc =
              "slices of 32 block rows, blocks of 2 x 2 to 6 x 6: for several unknowns a node; one "
              "pass with <x, A x>; no transpose",
          .can = {.dot = true},
          .refuses = refuses,
          .layout = layout,
          .estimate = estimate,
          .facts = {&dense_fact},
          .factory = factory_of<BsellFactory>(),
          .makers = makers_of<BsellOperator>(counted),
          .variants = variants};
}

}  // namespace tcsolve
