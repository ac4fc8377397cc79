// SPDX-License-Identifier: Apache-2.0
/// bench_triangular FOLDER [REPETITIONS = 50] [NAME...]: M x of IC(0), for nonsymmetric matrices
/// ILU(0), in each of the ways that the preconditioners offer beside cuSPARSE's SpSV of the same
/// factors: an application (median, L2 cold and hot) and the solve to 1e-8 with b = ones by cg or
/// gmres(50). Each M x is compared with the host's before it is timed.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <iostream>

#include <tcsolve/core/cuda/device.hpp>
#include <tcsolve/core/timed.hpp>
#include <tcsolve/factors/factorisation.hpp>
#include <tcsolve/formats/csr/operator.hpp>
#include <tcsolve/io/files/matrix_market.hpp>
#include <tcsolve/kernels/vector_ops.hpp>
#include <tcsolve/operators/function_operator.hpp>
#include <tcsolve/solvers/cg/cg.hpp>
#include <tcsolve/solvers/gmres/gmres.hpp>

#include "cusparse.hpp"
#include "measure.hpp"

using namespace tcsolve;

namespace {

using Clock = std::chrono::steady_clock;

/// cuSPARSE's solve with one triangle.
class SpSv {
 public:
  SpSv(cuda::Device& on, Csr<double> const& t, bool lower) : on_(on) {
    std::vector<std::int32_t> const offsets(t.offsets.begin(), t.offsets.end());
    offsets_ = upload(offsets);
    columns_ = upload(t.columns);
    values_ = upload(t.values);
    x_array_ = Array<double>(Space::cuda, t.rows);
    y_array_ = Array<double>(Space::cuda, t.rows);
    cuda::check(cusparseCreateCsr(&matrix_, t.rows, t.rows, t.entries(), offsets_.data(),
                                  columns_.data(), values_.data(), CUSPARSE_INDEX_32I,
                                  CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F));
    cusparseFillMode_t fill = lower ? CUSPARSE_FILL_MODE_LOWER : CUSPARSE_FILL_MODE_UPPER;
    cusparseDiagType_t diagonal = CUSPARSE_DIAG_TYPE_NON_UNIT;
    cuda::check(cusparseSpMatSetAttribute(matrix_, CUSPARSE_SPMAT_FILL_MODE, &fill, sizeof fill));
    cuda::check(
        cusparseSpMatSetAttribute(matrix_, CUSPARSE_SPMAT_DIAG_TYPE, &diagonal, sizeof diagonal));
    cuda::check(cusparseCreateDnVec(&x_, t.rows, x_array_.data(), CUDA_R_64F));
    cuda::check(cusparseCreateDnVec(&y_, t.rows, y_array_.data(), CUDA_R_64F));
    cuda::check(cusparseSpSV_createDescr(&plan_));
    std::size_t bytes = 0;
    cuda::check(cusparseSpSV_bufferSize(bench::cusparse(on), CUSPARSE_OPERATION_NON_TRANSPOSE,
                                        &one_, matrix_, x_, y_, CUDA_R_64F,
                                        CUSPARSE_SPSV_ALG_DEFAULT, plan_, &bytes));
    buffer_ = Array<std::byte>(Space::cuda, bytes + 16);
    cuda::check(cusparseSpSV_analysis(bench::cusparse(on), CUSPARSE_OPERATION_NON_TRANSPOSE, &one_,
                                      matrix_, x_, y_, CUDA_R_64F, CUSPARSE_SPSV_ALG_DEFAULT, plan_,
                                      buffer_.data()));
  }
  ~SpSv() {
    cusparseSpSV_destroyDescr(plan_);
    cusparseDestroyDnVec(x_);
    cusparseDestroyDnVec(y_);
    cusparseDestroySpMat(matrix_);
  }
  SpSv(SpSv const&) = delete;

  void run(double const* x, double* y) {
    cuda::check(cusparseDnVecSetValues(x_, const_cast<double*>(x)));
    cuda::check(cusparseDnVecSetValues(y_, y));
    cuda::check(cusparseSpSV_solve(bench::cusparse(on_), CUSPARSE_OPERATION_NON_TRANSPOSE, &one_,
                                   matrix_, x_, y_, CUDA_R_64F, CUSPARSE_SPSV_ALG_DEFAULT, plan_));
  }

 private:
  template <class V>
  static Array<V> upload(std::vector<V> const& from) {
    Array<V> there(Space::cuda, from.size());
    cuda::check(cudaMemcpy(there.data(), from.data(), there.bytes(), cudaMemcpyHostToDevice));
    return there;
  }
  cuda::Device& on_;
  double const one_ = 1;
  cusparseSpMatDescr_t matrix_ = nullptr;
  cusparseDnVecDescr_t x_ = nullptr, y_ = nullptr;
  cusparseSpSVDescr_t plan_ = nullptr;
  Array<std::int32_t> offsets_;
  Array<Index> columns_;
  Array<double> values_, x_array_, y_array_;
  Array<std::byte> buffer_;
};

/// The triangle with its diagonal: of L ones, of D U the pivots.
Csr<double> with_diagonal(Csr<double> const& t, std::vector<double> const& inverse, bool lower) {
  Csr<double> out;
  out.rows = out.cols = t.rows;
  for (Index i = 0; i < t.rows; ++i) {
    double const pivot = lower ? 1.0 : 1 / inverse[i];
    auto const diagonal = [&] {
      out.columns.push_back(i);
      out.values.push_back(pivot);
    };
    if (!lower) diagonal();
    for (Offset k = t.offsets[i]; k < t.offsets[i + 1]; ++k) {
      out.columns.push_back(t.columns[k]);
      out.values.push_back(pivot * t.values[k]);
    }
    if (lower) diagonal();
    out.offsets.push_back(out.entries());
  }
  return out;
}

OperatorPtr<double> spsv(Context& ctx, TriangularFactors const& f) {
  auto L =
      std::make_shared<SpSv>(*ctx.device(), with_diagonal(f.lower, f.inverse_pivots, true), true);
  auto U =
      std::make_shared<SpSv>(*ctx.device(), with_diagonal(f.upper, f.inverse_pivots, false), false);
  auto t = std::make_shared<Vector<double>>(ctx.space(), f.lower.rows);
  return std::make_shared<FunctionOperator<double>>(
      f.lower.rows, f.lower.rows, [L, U, t](Context&, In<double> x, Out<double> y) {
        L->run(x.data, t->view().data);
        U->run(t->view().data, y.data);
      });
}

double median(std::vector<double> times) {
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::cout << "bench_triangular FOLDER [REPETITIONS] [NAME...]\n";
    return 0;
  }
  std::string why;
  if (!cuda::available(why)) {
    std::cout << "bench_triangular: " << why << ": nothing to do\n";
    return 0;
  }
  int const repetitions = argc > 2 ? std::atoi(argv[2]) : 50;
  std::vector<std::string> names(argv + std::min(argc, 3), argv + argc);
  if (names.empty())
    names = {"bcsstk17",        "bunny_thermal_r1", "xenon1",
             "tripod_elast_p2", "tripod_elast_r2",  "tripod_convdiff_r3"};
  Context ctx(Backend::cuda), host(Backend::host);
  bench::print_device(ctx, repetitions);
  Array<char> flush(ctx.space(), 256 << 20);
  std::cout << "matrix | M | by | made, ms | cold, us | hot, us | iterations | solve, ms | "
               "outcome | error of M x\n---|---|---|---|---|---|---|---|---|---\n";
  for (std::string const& name : names) {
    std::filesystem::path file;
    for (char const* ending : {".mtx.xz", ".mtx"})
      if (auto const p = std::filesystem::path(argv[1]) / (name + ending);
          std::filesystem::exists(p))
        file = p;
    if (file.empty()) continue;
    Csr<double> const a = read_matrix_market(file);
    bool const symmetric = summarize(a).asymmetry < 1e-10;
    FactorRecipe recipe{.name = "factors", .symmetric = symmetric, .pivot_floor = 1e-6};
    recipe.arrangement = {UseMatching::off, FactorScaling::none, FactorOrder::none};
    auto A = std::make_shared<CsrOperator<double>>(ctx, a.view());
    Vector<double> r(ctx.space(), a.rows), z(ctx.space(), a.rows);
    std::vector<double> random(a.rows), expected(a.rows), got(a.rows);
    for (Index i = 0; i < a.rows; ++i) random[i] = random_value(7, i);
    copy_bytes(ctx, r.view().data, ctx.space(), random.data(), Space::host, 8.0 * a.rows);
    recipe.solves = TriangularSolves::exact;
    Factorisation const reference(host, a.view(), recipe);
    reference.apply(host, vector_view<double const>(random.data(), a.rows),
                    vector_view(expected.data(), a.rows));
    for (char const* by :
         {"SpSV", "exact", "host", "isai", "isai fp32", "exact, colours", "exact fp32, colours",
          "isai, colours", "exact, metis", "parts", "parts, metis"}) {
      std::string const way = by;
      recipe.arrangement.order = way.ends_with("colours") ? FactorOrder::colours
                                 : way.ends_with("metis") ? FactorOrder::metis
                                                          : FactorOrder::none;
      recipe.values = way.find("fp32") != way.npos ? Real::f32 : Real::f64;
      recipe.solves = way.starts_with("isai")    ? TriangularSolves::isai
                      : way == "host"            ? TriangularSolves::host
                      : way.starts_with("parts") ? TriangularSolves::parts
                                                 : TriangularSolves::exact;
      try {
        auto start = Clock::now();
        OperatorPtr<double> M;
        if (way == "SpSV")
          M = spsv(ctx, *reference.factors(host));
        else
          M = std::make_shared<Factorisation>(ctx, a.view(), recipe);
        ctx.synchronize();
        double const made = seconds_since(start);
        M->apply(ctx, r, z);
        copy_bytes(ctx, got.data(), Space::host, z.view().data, ctx.space(), 8.0 * a.rows);
        double error = 0, size = 0;
        for (Index i = 0; i < a.rows; ++i) {
          error += (got[i] - expected[i]) * (got[i] - expected[i]);
          size += expected[i] * expected[i];
        }
        double times[2];
        for (bool const cold : {true, false}) {
          std::vector<double> all;
          for (int k = 0; k < repetitions; ++k) {
            if (cold) cuda::check(cudaMemsetAsync(flush.data(), k, flush.bytes()));
            ctx.synchronize();
            cuda::check(cudaDeviceSynchronize());
            start = Clock::now();
            M->apply(ctx, r, z);
            ctx.synchronize();
            all.push_back(1e6 * seconds_since(start));
          }
          times[cold ? 0 : 1] = median(all);
        }
        StoppingParams const stopping{.max_iters = 3000, .time_limit = 8};
        std::unique_ptr<Solver> solver;
        if (symmetric)
          solver = std::make_unique<Cg<double>>(CgParams{stopping});
        else
          solver =
              std::make_unique<Gmres<double>>(GmresParams{.stopping = stopping, .restart = 50});
        solver->setup(ctx, A, M);
        std::vector<double> const b(a.rows, 1.0);
        SolveReport report;
        std::vector<double> solves;
        for (int k = 0; k < 3; ++k) {
          std::vector<double> x(a.rows, 0.0);
          start = Clock::now();
          report = solver->solve(vector_view<double const>(b.data(), a.rows),
                                 vector_view(x.data(), a.rows));
          solves.push_back(1e3 * seconds_since(start));
        }
        std::cout << name << " | " << (symmetric ? "ic(0)" : "ilu(0)") << " | " << way << " | "
                  << 1e3 * made << " | " << times[0] << " | " << times[1] << " | "
                  << report.iterations << " | " << median(solves) << " | " << report.outcome()
                  << " | " << std::sqrt(error / size) << std::endl;
      } catch (Error const& e) {
        std::cout << name << " | " << way << " | " << e.what() << std::endl;
      }
    }
  }
}
