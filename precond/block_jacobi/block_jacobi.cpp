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

/// The inverses of the blocks of a host matrix, each stored in `widest` at most.
std::shared_ptr<InverseBlocks const> inverted(Context& ctx, CsrView<double> const& a,
                                              BlockJacobiParams const& params, Real widest) {
  if (a.rows != a.cols)
    throw ShapeError(cat("block_jacobi needs a square matrix, this is ", a.rows, " x ", a.cols,
                         "; remove the preconditioner"));
  checked(params, "block_jacobi");
  auto made = std::make_shared<InverseBlocks>();
  made->starts = blocks_of(a, params);
  std::vector<Index> start(a.rows), width(a.rows);
  std::vector<std::uint8_t> bytes(a.rows);
  std::vector<Offset> offset(a.rows), offset_t(a.rows);
  std::vector<std::byte> values, transposed;
  for (std::size_t k = 0; k + 1 < made->starts.size(); ++k) {
    Index const first = made->starts[k], b = made->starts[k + 1] - first;
    InverseBlock const block = inverse_block(a, first, b);
    Real const real = stored_type(block, params.values, widest);
    if (!finite_in(real, block.inverse))
      throw SetupError(cat("block_jacobi: the inverse of the block of rows ", first + 1, " to ",
                           first + b, " is beyond the range of its stored type",
                           "; take 'values: adaptive' or another preconditioner"));
    (real == Real::f64 ? made->in_f64 : real == Real::f32 ? made->in_f32 : made->in_f16) += 1;
    made->count += static_cast<double>(b) * b;
    auto const at = static_cast<Offset>(values.size());
    values.resize(values.size() + block_bytes(b, real));
    transposed.resize(values.size());
    write(real, block.inverse, values.data() + at);
    write(real, block.inverse.transpose(), transposed.data() + at);
    for (Index i = 0; i < b; ++i) {
      start[first + i] = first;
      width[first + i] = b;
      bytes[first + i] = static_cast<std::uint8_t>(size_of(real));
      offset[first + i] = offset_t[first + i] =
          at + Offset{i} * b * static_cast<Offset>(size_of(real));
    }
  }
  for (Offset& t : offset_t) t += static_cast<Offset>(values.size());
  made->start = to_space(ctx, start.data(), start.size());
  made->width = to_space(ctx, width.data(), width.size());
  made->bytes = to_space(ctx, bytes.data(), bytes.size());
  made->offset = to_space(ctx, offset.data(), offset.size());
  made->offset_t = to_space(ctx, offset_t.data(), offset_t.size());
  made->values = Array<std::byte>(ctx.space(), 2 * values.size());
  copy_bytes(ctx, made->values.data(), ctx.space(), values.data(), Space::host, values.size());
  copy_bytes(ctx, made->values.data() + values.size(), ctx.space(), transposed.data(), Space::host,
             transposed.size());
  return made;
}

}  // namespace

template <class T>
BlockJacobi<T>::BlockJacobi(Context& ctx, CsrView<double> const& a, BlockJacobiParams const& params)
    : BlockJacobi(inverted(ctx, a, params, real_of<T>)) {}

template <class T>
std::shared_ptr<LinearOperator<float> const> BlockJacobi<T>::on_floats(Context&) const {
  return std::shared_ptr<BlockJacobi<float>>(new BlockJacobi<float>(stored_));
}

template <class T>
Traits BlockJacobi<T>::traits() const {
  InverseBlocks const& s = *stored_;
  Real const widest = s.in_f64 > 0 ? Real::f64 : s.in_f32 > 0 ? Real::f32 : Real::f16;
  return {.precision = {s.starts.size() > 1 ? widest : real_of<T>, Real::f64, Real::f64},
          .transpose = true,
          .isolates_nonfinite = false,
          .operations = true};
}

template <class T>
Cost BlockJacobi<T>::cost(Index k) const {
  double const bytes = static_cast<double>(stored_->values.size()) / 2, n = this->rows();
  return {2 * stored_->count * k, bytes + n * (17 + 2.0 * k * sizeof(T)), 1};
}

template <class T>
Index BlockJacobi<T>::stored_in(Real real) const {
  return real == Real::f64   ? stored_->in_f64
         : real == Real::f32 ? stored_->in_f32
         : real == Real::f16 ? stored_->in_f16
                             : 0;
}

template <class T>
std::string BlockJacobi<T>::details() const {
  InverseBlocks const& s = *stored_;
  std::string text = cat(s.starts.size() - 1, " blocks");
  for (auto const& [count, name] :
       {std::pair{s.in_f64, "fp64"}, {s.in_f32, "fp32"}, {s.in_f16, "fp16"}})
    if (count > 0) text += cat(", ", count, " in ", name);
  return text;
}

template <class T>
void BlockJacobi<T>::do_apply(Context& ctx, T alpha, In<T> x, T beta, Out<T> y, Op op) const {
  InverseBlocks const& s = *stored_;
  Offset const* offset = op == Op::none ? s.offset.data() : s.offset_t.data();
  submit(ctx, BlockMultiply<T>{y.size(), alpha, s.start.data(), s.width.data(), s.bytes.data(),
                               offset, s.values.data(), x, beta, y});
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
