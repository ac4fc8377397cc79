// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/operators/register.hpp>

#include <tcsolve/operators/auto_factory.hpp>
#include <tcsolve/operators/bsell_operator.hpp>
#include <tcsolve/operators/csell_operator.hpp>
#include <tcsolve/operators/csr_operator.hpp>
#include <tcsolve/operators/dasp_operator.hpp>
#include <tcsolve/operators/dia_operator.hpp>
#include <tcsolve/operators/matrix_factory.hpp>
#include <tcsolve/operators/sell_operator.hpp>
#include <tcsolve/operators/spaden_operator.hpp>

namespace tcsolve {

/// The type in which a value and an entry of x are multiplied.
enum class Products { vectors, fp16 };
constexpr auto names(Products) {
  return std::array{std::pair{Products::vectors, "vectors"}, std::pair{Products::fp16, "fp16"}};
}

namespace {

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
      if constexpr (std::is_same_v<S, double>) {
        return std::make_shared<Made>(ctx, source(a, use));
      } else {
        NarrowCsr<S> narrow(ctx, source(a, use), Beyond::refuse_infinite);
        if constexpr (std::is_constructible_v<Made, Context&, CsrStorage<S>>)
          return std::make_shared<Made>(ctx, std::move(narrow).owned(ctx));
        else
          return std::make_shared<Made>(ctx, narrow.view());
      }
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
        return std::make_shared<Made>(
            ctx, NarrowCsr<S>(ctx, source(a, use), Beyond::refuse_infinite).view(), tuning);
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
      return std::make_shared<Made>(ctx, NarrowCsr<S>(ctx, source(a, use), beyond(params.scale)),
                                    options...);
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

}  // namespace

std::unique_ptr<OperatorFactory> factory_of(Format format, ScaledParams const& params,
                                            Index block) {
  switch (format) {
    case Format::csr: break;
    case Format::dia: return std::make_unique<DiaFactory>(params.matrix);
    case Format::bsell:
      return std::make_unique<BsellFactory>(
          BsellParams{params.matrix, static_cast<BlockSize>(block)});
    case Format::sell: return std::make_unique<SellFactory>(params.matrix);
    case Format::csell: return std::make_unique<CsellFactory>(params.matrix);
    case Format::dasp: return std::make_unique<DaspFactory>(DaspParams{params});
    case Format::spaden: return std::make_unique<SpadenFactory>(params);
  }
  return std::make_unique<CsrFactory>(params.matrix);
}
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
