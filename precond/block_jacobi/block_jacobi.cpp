// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/precond/block_jacobi/block_jacobi.hpp>

#include <tcsolve/configs/schema/checked.hpp>

#include <algorithm>
#include <utility>

#include <tcsolve/core/half.hpp>
#include <tcsolve/matrix/transfer.hpp>
#include <tcsolve/precond/block_jacobi/inverse_block.hpp>
#include <tcsolve/precond/block_jacobi/ops.hpp>

namespace tcsolve {

std::vector<Index> find_blocks(Pattern const& a, Index max_block) {
  std::vector<Index> starts = natural_blocks(a, max_block);
  // No natural blocks: grouping neighbours gains more than single rows.
  return starts.empty() ? uniform_blocks(a.rows, std::min<Index>(max_block, 8)) : starts;
}

namespace {

std::vector<Index> blocks_of(Pattern const& a, BlockJacobiParams const& params) {
  return params.block > 0 ? uniform_blocks(a.rows, params.block) : find_blocks(a, params.max_block);
}

/// Bytes of a block, the next one aligned for any type.
Offset block_bytes(Index b, Real real) {
  return (Offset{b} * b * static_cast<Offset>(size_of(real)) + 7) / 8 * 8;
}

/// Row by row, rounded; in S they are finite.
template <class S>
void write(Eigen::MatrixXd const& inverse, std::byte* to) {
  auto* value = reinterpret_cast<S*>(to);
  for (Eigen::Index i = 0; i < inverse.rows(); ++i)
    for (Eigen::Index j = 0; j < inverse.cols(); ++j) *value++ = S(inverse(i, j));
}
void write(Real real, Eigen::MatrixXd const& inverse, std::byte* to) {
  switch (real) {
    case Real::f64: return write<double>(inverse, to);
    case Real::f32: return write<float>(inverse, to);
    default: return write<half>(inverse, to);
  }
}

bool finite_in(Real real, Eigen::MatrixXd const& inverse) {
  return real == Real::f64   ? inverse.allFinite()
         : real == Real::f32 ? inverse.cast<float>().allFinite()
                             : inverse.cwiseAbs().maxCoeff() < 65520.0;
}

}  // namespace

template <class T>
BlockJacobi<T>::BlockJacobi(Context& ctx, CsrView<double> const& a, BlockJacobiParams const& params)
    : LinearOperator<T>(a.rows, a.rows) {
  if (a.rows != a.cols)
    throw ShapeError(cat("block_jacobi needs a square matrix, this is ", a.rows, " x ", a.cols,
                         "; remove the preconditioner"));
  checked(params, "block_jacobi");
  blocks_ = blocks_of(a, params);
  std::vector<Index> start(a.rows), width(a.rows);
  std::vector<std::uint8_t> bytes(a.rows);
  std::vector<Offset> offset(a.rows), offset_t(a.rows);
  std::vector<std::byte> values, transposed;
  for (std::size_t k = 0; k + 1 < blocks_.size(); ++k) {
    Index const first = blocks_[k], b = blocks_[k + 1] - first;
    InverseBlock const made = inverse_block(a, first, b);
    Real const real = stored_type(made, params.values, real_of<T>);
    if (!finite_in(real, made.inverse))
      throw SetupError(cat("block_jacobi: the inverse of the block of rows ", first + 1, " to ",
                           first + b, " is beyond the range of its stored type",
                           "; take 'values: adaptive' or another preconditioner"));
    (real == Real::f64 ? in_f64_ : real == Real::f32 ? in_f32_ : in_f16_) += 1;
    stored_ += static_cast<double>(b) * b;
    auto const at = static_cast<Offset>(values.size());
    values.resize(values.size() + block_bytes(b, real));
    transposed.resize(values.size());
    write(real, made.inverse, values.data() + at);
    write(real, made.inverse.transpose(), transposed.data() + at);
    for (Index i = 0; i < b; ++i) {
      start[first + i] = first;
      width[first + i] = b;
      bytes[first + i] = static_cast<std::uint8_t>(size_of(real));
      offset[first + i] = offset_t[first + i] =
          at + Offset{i} * b * static_cast<Offset>(size_of(real));
    }
  }
  for (Offset& t : offset_t) t += static_cast<Offset>(values.size());
  start_ = to_space(ctx, start.data(), start.size());
  width_ = to_space(ctx, width.data(), width.size());
  bytes_ = to_space(ctx, bytes.data(), bytes.size());
  offset_ = to_space(ctx, offset.data(), offset.size());
  offset_t_ = to_space(ctx, offset_t.data(), offset_t.size());
  values_ = Array<std::byte>(ctx.space(), 2 * values.size());
  copy_bytes(ctx, values_.data(), ctx.space(), values.data(), Space::host, values.size());
  copy_bytes(ctx, values_.data() + values.size(), ctx.space(), transposed.data(), Space::host,
             transposed.size());
}

template <class T>
Traits BlockJacobi<T>::traits() const {
  Real const widest = in_f64_ > 0 ? Real::f64 : in_f32_ > 0 ? Real::f32 : Real::f16;
  return {.precision = {blocks_.size() > 1 ? widest : real_of<T>, Real::f64, Real::f64},
          .transpose = true,
          .isolates_nonfinite = false,
          .operations = true};
}

template <class T>
Cost BlockJacobi<T>::cost(Index k) const {
  double const bytes = static_cast<double>(values_.size()) / 2, n = this->rows();
  return {2 * stored_ * k, bytes + n * (17 + 2.0 * k * sizeof(T)), 1};
}

template <class T>
Index BlockJacobi<T>::stored_in(Real real) const {
  return real == Real::f64   ? in_f64_
         : real == Real::f32 ? in_f32_
         : real == Real::f16 ? in_f16_
                             : 0;
}

template <class T>
std::string BlockJacobi<T>::details() const {
  std::string text = cat(blocks_.size() - 1, " blocks");
  for (auto const& [count, name] :
       {std::pair{in_f64_, "fp64"}, {in_f32_, "fp32"}, {in_f16_, "fp16"}})
    if (count > 0) text += cat(", ", count, " in ", name);
  return text;
}

template <class T>
void BlockJacobi<T>::do_apply(Context& ctx, T alpha, In<T> x, T beta, Out<T> y, Op op) const {
  Offset const* offset = op == Op::none ? offset_.data() : offset_t_.data();
  submit(ctx, BlockMultiply<T>{y.size(), alpha, start_.data(), width_.data(), bytes_.data(), offset,
                               values_.data(), x, beta, y});
}

template class BlockJacobi<double>;
template class BlockJacobi<float>;

namespace {

/// The inverses are made anew for new values.
class OwnedBlockJacobi final : public Preconditioner {
 public:
  OwnedBlockJacobi(Context& ctx, System const& system, BlockJacobiParams const& params)
      : params_(params) {
    OwnedBlockJacobi::update(ctx, system);
  }
  OperatorPtr<double> view() const override { return M_; }
  void update(Context& ctx, System const& system) override {
    with_host(ctx, system, [&](CsrView<double> const& a) {
      M_ = std::make_shared<BlockJacobi<double>>(ctx, a, params_);
    });
  }
  Index reaches_across(std::vector<Index> const& starts) const override {
    for (Index const start : starts)
      if (!std::ranges::binary_search(M_->blocks(), start)) return start;
    return -1;
  }

 private:
  BlockJacobiParams params_;
  std::shared_ptr<BlockJacobi<double> const> M_;
};

}  // namespace

MemoryNeed BlockJacobiFactory::memory(Context& ctx, System const& system) const {
  if (system.matrix.space != Space::host && params_.values == BlockValues::adaptive)
    return with_host(ctx, system, [&](CsrView<double> const& here) {
      return memory(ctx, {here, system.A});
    });
  return with_pattern(ctx, system.matrix, [&](Pattern const& pattern) {
    std::vector<Index> const starts = blocks_of(pattern, params_);
    std::size_t const count = starts.size() - 1;
    constexpr std::size_t sample = 1024;
    bool const adaptive = params_.values == BlockValues::adaptive;
    std::size_t const every = adaptive ? std::max<std::size_t>(1, count / sample) : 1;
    double bytes = 0, looked_at = 0;
    for (std::size_t k = every / 2; k < count; k += every, ++looked_at) {
      Index const b = starts[k + 1] - starts[k];
      InverseBlock const made =
          adaptive ? inverse_block(system.matrix, starts[k], b) : InverseBlock();
      bytes += static_cast<double>(block_bytes(b, stored_type(made, params_.values, Real::f64)));
    }
    MemoryNeed need;
    need.host = 4.0 * static_cast<double>(starts.size());
    need.space = 25.0 * pattern.rows;
    if (looked_at > 0) need.space += 2 * bytes * (static_cast<double>(count) / looked_at);
    need.passing = 1.5 * need.space;  // arrays that grow
    need.exact = every == 1;
    return need;
  });
}

std::unique_ptr<Preconditioner> BlockJacobiFactory::build(Context& ctx,
                                                          System const& system) const {
  return std::make_unique<OwnedBlockJacobi>(ctx, system, params_);
}

}  // namespace tcsolve
