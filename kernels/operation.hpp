// SPDX-License-Identifier: Apache-2.0
/// One vocabulary, two backends. A fused operation is a struct: its operands, what it does to
/// element i, and the scalar work before and after. It is written once; kernels/host/execute.hpp
/// and kernels/cuda/execute.cuh each run any operation, so host and device cannot drift apart.
///
///     struct Op {
///       static constexpr char const* name = "cg_update_residual";
///       static constexpr int sums = 2;  // reductions of the pass; omit for none
///       std::int64_t n;                 // elements of the pass, may be 0
///       ...                             // operands: pointers into the space, host scalars
///       struct Coefficients { double a; };         // omit when there are none
///       bool prepare(Frame, Coefficients&) const;  // scalars in; false: leave all untouched
///       void element(std::int64_t i, Coefficients const&, double* sum) const;
///       void meanwhile(Frame) const;  // once, before finish: what the sums are not needed for
///       void finish(Frame, double const* sum) const;  // once, after every element
///       void after(Frame) const;                      // last of all, in a stopped loop too
///     };
///
/// An operation may load an element apart from what it does with it, so that a device has the loads
/// of two on their way; a compiler cannot, which does not know that no store of the one changes
/// what the other loads:
///
///       struct Loaded { T r, q; };
///       Loaded load(std::int64_t i, Coefficients const&) const;
///       void element(std::int64_t i, Loaded const&, Coefficients const&, double* sum) const;
///       // and element(i, c, sum) { element(i, load(i, c), c, sum); }
///
/// Divisions in a row, by one thread, take as long as a sum does: meanwhile() of a device runs
/// while the sums are on their way. It begins after prepare() and may run beside elements.
///
/// Reductions: each block adds a fixed set of elements in a fixed order, and the parts of blocks
/// are added in a fixed order as well (kernels/sums.hpp), so the same device and n give the same
/// bits on every run. No floating-point atomics. The host adds chunks of 4096 elements in chunk
/// order, which makes its result independent of the number of threads.
#pragma once

#include <cstdint>

#include <tcsolve/core/context.hpp>
#include <tcsolve/core/portable.hpp>

namespace tcsolve {

struct NoCoefficients {};

/// The static facts of a fused operation, with their defaults.
template <class V>
struct OpTraits {
  static constexpr int sums = [] {
    if constexpr (requires { V::sums; })
      return V::sums;
    else
      return 0;
  }();
  static constexpr bool maximum = requires { V::maximum; };  ///< reduce by max |.|, NaN wins
  static constexpr bool prepares = requires { typename V::Coefficients; };
  static constexpr bool always = requires { V::always; };  ///< runs in a stopped loop too
  /// An element is a chain of loads: a thread takes few.
  static constexpr bool long_elements = requires { V::long_elements; };
  static constexpr bool loads_apart = requires { typename V::Loaded; };
  static constexpr bool afters = requires(V v, Frame f) { v.after(f); };
  static constexpr bool finishes = requires(V v, Frame f, double* s) { v.finish(f, s); };
  static constexpr bool meanwhiles = requires(V v, Frame f) { v.meanwhile(f); };
};

/// meanwhile() and finish() of an operation, where nothing is won by having them apart.
template <class V>
TCSOLVE_HD void conclude(V const& op, Frame f, double const* sum) {
  if constexpr (OpTraits<V>::meanwhiles) op.meanwhile(f);
  op.finish(f, sum);
}

template <class V>
struct CoefficientsOf {
  using type = NoCoefficients;
};
template <class V>
requires OpTraits<V>::prepares struct CoefficientsOf<V> {
  using type = typename V::Coefficients;
};

namespace host {
template <class V>
void execute(Host&, LoopState*, V const&);
}
namespace cuda {
template <class V>
void execute(Device&, LoopState*, V const&);
}

/// Runs or records a fused operation.
template <class V>
void submit(Context& ctx, V const& op) {
  ctx.submit_op(op, [op](Context& c) {
    LoopState* state = c.loop();
    c.visit([&](auto& on) { execute(on, state, op); });
  });
}

}  // namespace tcsolve
