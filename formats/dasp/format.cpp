// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <tcsolve/formats/dasp/operator.hpp>
#include <tcsolve/formats/format_factory.hpp>

namespace tcsolve {

/// The type in which a value and an entry of x are multiplied.
enum class Products { vectors, fp16 };
constexpr auto names(Products) {
  return std::array{std::pair{Products::vectors, "vectors"}, std::pair{Products::fp16, "fp16"}};
}

namespace {

struct DaspParams {
  MatrixParams matrix;
  Products multiply = Products::vectors;
  static constexpr auto schema() {
    using P = DaspParams;
    return std::tuple{
        include(&P::matrix),
        field(
            &P::multiply, "multiply",
            "fp16: x is rounded to fp16 too (infinite beyond 65504; the solvers' own vectors have "
            "norms near 1), sums are FP32; with `values: fp16` alone. vectors: "
            "products in the type of the vectors")};
  }
};

std::string refuses(Features const& f, PlanRequest const&) { return beyond_31_bits(f); }

/// Within a few percent, since which rows share a unit is not known before they are sorted: 4 bytes
/// a row for the order, 4 for its irregular entries, 16 for a unit of eight.
FormatLayout layout(Features const& f, Real values) {
  auto const s = double(size_of(values)), rows = double(f.rows);
  // Pieces of four: rows of 4; of 3 and 1; of 2 and 2; the rows of 1 that are left are single.
  auto const& with = f.short_rows;
  double const pieces = double(with[4]) + double(with[3]) + double(with[2]) / 2;
  double const single = std::max<double>(0, double(with[1] - with[3]));
  double const slots = double(f.medium_slots) + double(f.long_entries) + 4 * pieces + single;
  return {.stored = slots * (s + 2) + 2 * double(f.medium_wide + f.long_entries) + 10 * rows,
          .slots = slots,
          .scratch = 20 * rows};
}

/// With an eighth of padding.
double estimate(Real values, double rows, double entries) {
  return 1.125 * entries * (size_of(values) + 2) + 10 * rows;
}

class DaspFactory final : public FactoryOf<DaspParams> {
 public:
  DaspFactory(DaspParams const& params, Format const& format, FormatList const& among)
      : FactoryOf(params, format, among) {
    if (params.multiply == Products::fp16 && values_ != Real::f16)
      throw Unsupported(
          cat("dasp: `multiply: fp16` needs `values: fp16`, not `", tcsolve::name(values_), "`"));
  }
  OperatorPtr<double> build(Context& ctx, Csr<double> const& a,
                            OperatorUse const& use) const override {
    DaspOptions options;
    if (params_.multiply == Products::fp16) options.unit = DaspUnitOf::half_products;
    return rounded_operator<DaspOperator>(ctx, a, use, params_.matrix, options);
  }
};

std::vector<Variant> variants() {
  std::vector<Variant> all;
  auto const add = [&](std::string const& name, DaspOptions const& options) -> Variant& {
    return all.emplace_back(
        Variant{.name = "dasp, " + name, .makers = makers_of<DaspOperator>(options)});
  };
  Variant& halves = add("fp16 products", {{}, DaspUnitOf::half_products});
  halves.swept = false;
  halves.differs = [](Features const&, Real values, Real) { return values == Real::f16; };
  halves.roundoff = 0x1p-10;
  for (int const loop : {1, 2, 4}) {
    std::string const name = cat("loop ", loop);
    add(name, {{.loop_num = loop}});
    add(name + ", mma", {{.loop_num = loop}, DaspUnitOf::mma}).differs =
        [](Features const&, Real, Real vectors) { return vectors == Real::f64; };
    add(name + ", tf32", {{.loop_num = loop}, DaspUnitOf::mma}).differs =
        [](Features const&, Real values, Real vectors) {
          return vectors == Real::f32 && size_of(values) == 2;
        };
  }
  for (Index const blocks : {16, 64}) add(cat("long ", blocks), {{.long_blocks = blocks}});
  for (double const threshold : {0.25, 0.75, 1.0})
    add(cat("threshold ", threshold), {{.threshold = threshold}});
  add("max 1024", {{.max_length = 1024}});
  return all;
}

}  // namespace

Format dasp_format() {
  return {.name = "dasp",
          .doc =
              "rows by length in blocks of 8 x 4 for the matrix unit (DASP); any row lengths; no "
              "transpose",
          .refuses = refuses,
          .layout = layout,
          .estimate = estimate,
          .factory = factory_of<DaspFactory>(),
          .makers = makers_of<DaspOperator>(),
          .variants = variants};
}

}  // namespace tcsolve
