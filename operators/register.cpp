// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/operators/register.hpp>

#include <algorithm>
#include <array>
#include <optional>

#include <tcsolve/formats/graph_partition.hpp>
#include <tcsolve/io/plan_cache.hpp>
#include <tcsolve/operators/bsell_operator.hpp>
#include <tcsolve/operators/csell_operator.hpp>
#include <tcsolve/operators/csr_operator.hpp>
#include <tcsolve/operators/dasp_operator.hpp>
#include <tcsolve/operators/dia_operator.hpp>
#include <tcsolve/operators/lazy_operator.hpp>
#include <tcsolve/operators/planner.hpp>
#include <tcsolve/operators/sell_operator.hpp>
#include <tcsolve/operators/spaden_operator.hpp>
#include <tcsolve/version.hpp>

namespace tcsolve {

constexpr auto names(Scaling) {
  return std::array{std::pair{Scaling::powers_of_two, "powers_of_two"},
                    std::pair{Scaling::refuse, "refuse"}};
}

/// The type in which a value and an entry of x are multiplied.
enum class Products { vectors, fp16 };
constexpr auto names(Products) {
  return std::array{std::pair{Products::vectors, "vectors"}, std::pair{Products::fp16, "fp16"}};
}

constexpr auto names(Real) {
  return std::array{std::pair{Real::f64, "fp64"}, std::pair{Real::f32, "fp32"},
                    std::pair{Real::f16, "fp16"}, std::pair{Real::bf16, "bf16"}};
}

/// How a format is chosen: by the cost model, or by the clock.
enum class Autotune { none, measure };
constexpr auto names(Autotune) {
  return std::array{std::pair{Autotune::none, "none"}, std::pair{Autotune::measure, "measure"}};
}

/// When a matrix is converted: before the first product, or once the products made have lost as
/// much time as that takes.
enum class Conversion { before, lazy };
constexpr auto names(Conversion) {
  return std::array{std::pair{Conversion::before, "before"}, std::pair{Conversion::lazy, "lazy"}};
}

namespace {

/// What every format has.
struct MatrixParams {
  Real values = Real::f64;
  Reorder reorder = Reorder::none;
  static constexpr auto schema() {
    using P = MatrixParams;
    return std::tuple{
        field(&P::values, "values",
              "type the matrix is stored in; vectors are FP64, and `converged` refers to the "
              "FP64 matrix whatever is chosen here"),
        field(
            &P::reorder, "reorder",
            "rows and columns in an order that keeps the entries of x that are read together "
            "close: reverse Cuthill-McKee, parts by METIS, or auto: the one of them that pays for "
            "itself in the products expected, if any. b, x0 and x stay in the order given; "
            "preconditioners see the new one")};
  }
};

struct ScaledParams {
  MatrixParams matrix;
  Scaling scale = Scaling::powers_of_two;
  static constexpr auto schema() {
    using P = ScaledParams;
    return std::tuple{
        include(&P::matrix),
        field(&P::scale, "scale",
              "a value beyond the range of the stored type: scale rows, and columns, by powers of "
              "two, or refuse the matrix")};
  }
};

/// Rows and columns of a dense block.
enum class BlockSize { best = 0, two = 2, three = 3, four = 4, six = 6 };
constexpr auto names(BlockSize) {
  return std::array{std::pair{BlockSize::best, "0"}, std::pair{BlockSize::two, "2"},
                    std::pair{BlockSize::three, "3"}, std::pair{BlockSize::four, "4"},
                    std::pair{BlockSize::six, "6"}};
}

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

struct DaspParams {
  ScaledParams scaled;
  Products multiply = Products::vectors;
  static constexpr auto schema() {
    using P = DaspParams;
    return std::tuple{
        include(&P::scaled),
        field(
            &P::multiply, "multiply",
            "fp16: x is rounded to fp16 too (infinite beyond 65504; the solvers' own vectors have "
            "norms near 1), sums are FP32; with `values: fp16` alone. vectors: "
            "products in the type of the vectors")};
  }
};

/// f.operator()<S>() for the type that values are stored in.
template <class F>
OperatorPtr<double> for_type(Real values, F const& f) {
  switch (values) {
    case Real::f64: return f.template operator()<double>();
    case Real::f32: return f.template operator()<float>();
    case Real::f16: return f.template operator()<half>();
    case Real::bf16: return f.template operator()<bfloat16>();
  }
  throw Error("internal: a value type without an operator");
}

/// What a CSR matrix takes.
double csr_bytes(Real values, Index rows, Offset entries) {
  return double(entries) * (size_of(values) + 4) + 4 * (double(rows) + 1);
}

class MatrixFactory : public OperatorFactory {
 public:
  explicit MatrixFactory(MatrixParams const& params)
      : values_(params.values), reorder_(params.reorder) {
    // A matrix may take long to read: what this build cannot do is refused before.
    if (reorder_ == Reorder::metis) require_metis();
  }
  bool exact() const override { return values_ == Real::f64; }
  Reorder reorder() const override { return reorder_; }
  OrderedMatrix order(Context& ctx, Csr<double> const& a, OperatorUse const& use) const override {
    return ordered(
        ctx, a,
        {.asked = reorder_, .plan = request(ctx, use), .format = format(), .cache = use.cache},
        table(ctx));
  }

 protected:
  /// The only format there is; none: any.
  virtual std::optional<Format> format() const = 0;
  virtual CostTable table(Context const& ctx) const { return CostTable::shipped(ctx); }
  virtual PlanRequest request(Context const& ctx, OperatorUse const& use) const {
    return {.values = values_,
            .applies = use.applies,
            .transpose = use.transpose,
            .persistent = use.persistent,
            .memory = 0.9 * double(ctx.available_memory())};
  }
  Real values_;

 private:
  Reorder reorder_;
};

/// The matrix that an FP64 operator is made of.
CsrView<double> source(Csr<double> const& a, OperatorUse const& use) {
  return use.ready ? use.ready->matrix->view() : a.view();
}

/// A factory of one format.
template <Format the_format>
class FormatFactory : public MatrixFactory {
 public:
  using MatrixFactory::MatrixFactory;

 protected:
  std::optional<Format> format() const override { return the_format; }
};

/// A format that rounds the values of a CSR matrix as they are.
template <template <class, class> class Operator, Format the_format>
class RoundingFactory : public FormatFactory<the_format> {
 public:
  using Params = MatrixParams;
  using FormatFactory<the_format>::FormatFactory;
  OperatorPtr<double> build(Context& ctx, Csr<double> const& a,
                            OperatorUse const& use) const override {
    return for_type(this->values_, [&]<class S>() -> OperatorPtr<double> {
      using Made = Operator<double, S>;
      if constexpr (std::is_same_v<S, double>)
        return std::make_shared<Made>(ctx, source(a, use));
      else if constexpr (std::is_constructible_v<Made, Context&, Csr<S>>)
        return std::make_shared<Made>(ctx, converted<S>(a));
      else
        return std::make_shared<Made>(ctx, converted<S>(a).view());
    });
  }
};

class CsrFactory final : public RoundingFactory<CsrOperator, Format::csr> {
 public:
  using RoundingFactory::RoundingFactory;
  double bytes(Index rows, Index, Offset entries) const override {
    return csr_bytes(values_, rows, entries);
  }
};

class DiaFactory final : public RoundingFactory<DiaOperator, Format::dia> {
 public:
  using RoundingFactory::RoundingFactory;
  /// Where a tenth of the positions are holes; with the CSR matrix it is made from.
  double bytes(Index rows, Index, Offset entries) const override {
    return 1.1 * double(entries) * size_of(values_) + csr_bytes(values_, rows, entries);
  }
};

class SellFactory final : public RoundingFactory<SellOperator, Format::sell> {
 public:
  using RoundingFactory::RoundingFactory;
  /// Where neighbouring rows are equally long; with the CSR matrix it is made from.
  double bytes(Index rows, Index, Offset entries) const override {
    return double(entries) * (size_of(values_) + 2) + 5 * double(rows) +
           csr_bytes(values_, rows, entries);
  }
};

class CsellFactory final : public RoundingFactory<CsellOperator, Format::csell> {
 public:
  using RoundingFactory::RoundingFactory;
  /// With 16-bit columns and 3 % of padding; with the CSR matrix it is made from.
  double bytes(Index rows, Index, Offset entries) const override {
    return 1.03 * double(entries) * (size_of(values_) + 2.125) + 13 * double(rows) +
           csr_bytes(values_, rows, entries);
  }
};

class BsellFactory final : public FormatFactory<Format::bsell> {
 public:
  using Params = BsellParams;
  explicit BsellFactory(Params const& params)
      : FormatFactory(params.matrix), block_(static_cast<Index>(params.block)) {}
  OperatorPtr<double> build(Context& ctx, Csr<double> const& a,
                            OperatorUse const& use) const override {
    BsellTuning const tuning{.block = block_};
    return for_type(values_, [&]<class S>() -> OperatorPtr<double> {
      using Made = BsellOperator<double, S>;
      if constexpr (std::is_same_v<S, double>)
        return std::make_shared<Made>(ctx, source(a, use), tuning);
      else
        return std::make_shared<Made>(ctx, converted<S>(a).view(), tuning);
    });
  }
  /// Where a tenth of the positions are holes, in blocks of 2 x 2; with the CSR matrix it is made
  /// from.
  double bytes(Index rows, Index, Offset entries) const override {
    return 1.1 * double(entries) * (size_of(values_) + 0.5) + 2 * double(rows) +
           csr_bytes(values_, rows, entries);
  }

 private:
  Index block_;
};

/// A format that scales what would leave the range of its values; `options` are its own.
template <template <class, class> class Operator, class... Options>
OperatorPtr<double> scaled_operator(Context& ctx, Csr<double> const& a, OperatorUse const& use,
                                    ScaledParams const& params, Options const&... options) {
  return for_type(params.matrix.values, [&]<class S>() -> OperatorPtr<double> {
    using Made = Operator<double, S>;
    if constexpr (std::is_same_v<S, double>)
      return std::make_shared<Made>(ctx, source(a, use), options...);
    else
      return std::make_shared<Made>(ctx, scaled<S>(a, params.scale), options...);
  });
}

class DaspFactory final : public FormatFactory<Format::dasp> {
 public:
  using Params = DaspParams;
  explicit DaspFactory(Params const& params)
      : FormatFactory(params.scaled.matrix), params_(params) {
    if (params_.multiply == Products::fp16 && values_ != Real::f16)
      throw Unsupported(
          cat("dasp: `multiply: fp16` needs `values: fp16`, not `", tcsolve::name(values_), "`"));
  }
  OperatorPtr<double> build(Context& ctx, Csr<double> const& a,
                            OperatorUse const& use) const override {
    DaspOptions options;
    if (params_.multiply == Products::fp16) options.unit = DaspUnitOf::half_products;
    return scaled_operator<DaspOperator>(ctx, a, use, params_.scaled, options);
  }
  /// With an eighth of padding; with the CSR matrix it is made from.
  double bytes(Index rows, Index, Offset entries) const override {
    return 1.125 * double(entries) * (size_of(values_) + 2) + 10 * double(rows) +
           csr_bytes(values_, rows, entries);
  }

 private:
  Params params_;
};

class SpadenFactory final : public FormatFactory<Format::spaden> {
 public:
  using Params = ScaledParams;
  explicit SpadenFactory(Params const& params) : FormatFactory(params.matrix), params_(params) {}
  OperatorPtr<double> build(Context& ctx, Csr<double> const& a,
                            OperatorUse const& use) const override {
    return scaled_operator<SpadenOperator>(ctx, a, use, params_);
  }
  /// With eight entries a block; with the CSR matrix it is made from.
  double bytes(Index rows, Index, Offset entries) const override {
    return double(entries) * (size_of(values_) + 2) + 4.5 * double(rows) +
           csr_bytes(values_, rows, entries);
  }

 private:
  Params params_;
};

struct AutoParams {
  ScaledParams scaled{.matrix = {.reorder = Reorder::automatic}};
  double expected_applies = 0;
  Conversion conversion = Conversion::before;
  Autotune autotune = Autotune::none;
  double budget = 1;
  std::string calibration;
  static constexpr auto schema() {
    using P = AutoParams;
    return std::tuple{
        include(&P::scaled),
        field(&P::expected_applies, "expected_applies", at_least(0.0),
              "products that the conversion is to pay for; 0: what the solver may take at most, "
              "but no more than 500"),
        field(&P::conversion, "conversion",
              "lazy: starts as csr and converts beside the solve once csr has cost as much time as "
              "that takes, whatever `expected_applies` says; needs `deterministic: false`, since "
              "the clock decides which products are made in which format"),
        field(&P::autotune, "autotune",
              "measure: times the best three for real and keeps the fastest; needs "
              "`deterministic: false`, since the answer depends on the clock"),
        field(&P::budget, "budget", above(0.0), "seconds that autotune may take"),
        field(&P::calibration, "calibration",
              "cost table of this device, written by `tcsolve calibrate`; none: the shipped one")};
  }
};

/// The format that costs least (operators/planner.hpp).
class AutoFactory final : public MatrixFactory {
 public:
  using Params = AutoParams;
  explicit AutoFactory(Params const& params)
      : MatrixFactory(params.scaled.matrix), params_(params) {
    if (params_.conversion == Conversion::lazy && params_.autotune == Autotune::measure)
      throw Unsupported(
          "`autotune: measure` converts before the solve, `conversion: lazy` after it has begun; "
          "take one of them");
    if (!params_.calibration.empty()) table_ = CostTable::load(params_.calibration);
  }

  OperatorPtr<double> build(Context& ctx, Csr<double> const& a,
                            OperatorUse const& use) const override {
    if (params_.autotune == Autotune::measure && ctx.options().deterministic)
      throw Unsupported(
          "`autotune: measure` chooses by the clock, and two runs may differ in their bits; it "
          "needs `deterministic: false`");
    if (params_.conversion == Conversion::lazy && ctx.options().deterministic)
      throw Unsupported(
          "`conversion: lazy` switches by the clock, and two runs may differ in their bits; it "
          "needs `deterministic: false`");
    CsrStorage<double> const here(ctx, source(a, use));
    bool const known = use.ready && use.ready->features;
    CostTable const table = this->table(ctx);
    Plan const plan = make_plan(known ? *use.ready->features : features(ctx, here.view()),
                                request(ctx, use), table);
    auto const make = [&](Format format) -> OperatorPtr<double> {
      return values_ == Real::f64 && format != Format::csr
                 ? make_operator<double>(ctx, here.view(), format, plan.block)
                 : factory(format, plan.block)->build(ctx, a, use);
    };
    ctx.log(Severity::detail, text(plan));
    if (params_.autotune == Autotune::measure) {
      if (use.cache == nullptr) return tuned(ctx, plan, make).best;
      std::string const key = cat("format ", name(values_), ", ", table.device, ", ",
                                  version::release, ", ", pattern_key(a));
      if (auto const kept = remembered(*use.cache, key, plan)) {
        ctx.log(Severity::note, cat("format: ", name(*kept), ", as measured before"));
        return make(*kept);
      }
      auto const answer = tuned(ctx, plan, make);
      std::string const why = use.cache->put(key, name(answer.taken));
      if (!why.empty()) ctx.log(Severity::note, cat("format: not kept in the cache: ", why));
      return answer.best;
    }
    if (params_.conversion == Conversion::lazy)
      if (auto const A = lazily(ctx, a, plan)) return A;
    for (Candidate const& c : plan.candidates) {
      try {
        auto const A = make(c.format);
        ctx.log(Severity::note, cat("format: ", name(c.format), " for ", plan.request.applies,
                                    " products (", table.device, ")"));
        return A;
      } catch (MatrixError const& e) {
        // Values in fewer bits, or padding beyond what was foreseen: another format may hold it.
        bool const last = &c == &plan.candidates.back() || !(&c + 1)->excluded.empty();
        if (last) throw;
        ctx.log(Severity::note, cat("format: not ", name(c.format), ": ", e.what()));
      }
    }
    throw Error("internal: a plan without candidates");
  }
  /// Of csr: a format that needs more is taken where there is room.
  double bytes(Index rows, Index, Offset entries) const override {
    return csr_bytes(values_, rows, entries);
  }
  bool needs_host() const override {
    return !exact() || params_.conversion == Conversion::lazy ||
           params_.autotune == Autotune::measure;
  }

 private:
  std::optional<Format> format() const override { return std::nullopt; }
  CostTable table(Context const& ctx) const override {
    return table_ ? *table_ : CostTable::shipped(ctx);
  }
  PlanRequest request(Context const& ctx, OperatorUse const& use) const override {
    PlanRequest request = MatrixFactory::request(ctx, use);
    if (params_.expected_applies > 0) request.applies = params_.expected_applies;
    return request;
  }
  std::unique_ptr<OperatorFactory> factory(Format format, Index block) const {
    switch (format) {
      case Format::csr: break;
      case Format::dia: return std::make_unique<DiaFactory>(params_.scaled.matrix);
      case Format::bsell:
        return std::make_unique<BsellFactory>(
            BsellParams{params_.scaled.matrix, static_cast<BlockSize>(block)});
      case Format::sell: return std::make_unique<SellFactory>(params_.scaled.matrix);
      case Format::csell: return std::make_unique<CsellFactory>(params_.scaled.matrix);
      case Format::dasp: return std::make_unique<DaspFactory>(DaspParams{params_.scaled});
      case Format::spaden: return std::make_unique<SpadenFactory>(params_.scaled);
    }
    return std::make_unique<CsrFactory>(params_.scaled.matrix);
  }
  /// Null where csr cannot hold the values in fewer bits: what another format may scale is
  /// converted at once.
  static OperatorPtr<double> lazily(Context& ctx, Csr<double> const& a, Plan const& plan) {
    try {
      return convert_lazily(ctx, a, plan);
    } catch (MatrixError const& e) {
      if (plan.request.values == Real::f64) throw;
      ctx.log(Severity::note, cat("format: not csr: ", e.what()));
      return nullptr;
    }
  }
  template <class Make>
  Tuned<double> tuned(Context& ctx, Plan const& plan, Make const& make) const {
    auto answer = autotune<double>(ctx, plan, params_.budget, make);
    ctx.log(Severity::note, cat("format: ", text(answer)));
    return answer;
  }
  /// What was measured before, if it can still be had.
  static std::optional<Format> remembered(DiskCache const& cache, std::string const& key,
                                          Plan const& plan) {
    auto const known = cache.get(key);
    if (!known) return std::nullopt;
    for (Candidate const& c : plan.candidates)
      if (c.excluded.empty() && *known == name(c.format)) return c.format;
    return std::nullopt;
  }

  Params params_;
  std::optional<CostTable> table_;
};

}  // namespace

void register_operators(OperatorRegistry& r) {
  r.add<AutoFactory>("auto",
                     "the format that costs least, conversion included; csr where A^T is needed");
  r.add<CsrFactory>("csr", "compressed sparse rows; cuSPARSE on a device, Kokkos on the host");
  r.add<DiaFactory>("dia",
                    "diagonals, of a symmetric matrix the lower ones: for grids and stencils; one "
                    "pass with <x, A x>; no transpose");
  r.add<SellFactory>(
      "sell", "slices of 32 rows, 16-bit column numbers; one pass with <x, A x>; no transpose");
  r.add<CsellFactory>(
      "csell",
      "slices of 32 rows, sorted where they must be, 8-bit column numbers where they "
      "reach; any row lengths; no transpose");
  r.add<BsellFactory>("bsell",
                      "slices of 32 block rows, blocks of 2 x 2 to 6 x 6: for several unknowns a "
                      "node; one pass with <x, A x>; no transpose");
  r.add<DaspFactory>("dasp",
                     "rows by length in blocks of 8 x 4 for the matrix unit (DASP); any row "
                     "lengths; no transpose");
  r.add<SpadenFactory>(
      "spaden",
      "bitmaps of 8 x 8 blocks with packed values (bitBSR); more than 32 entries a "
      "row; no transpose");
}

}  // namespace tcsolve
