// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/factors/apply/joint_inverse.hpp>

#include <algorithm>

#include <tcsolve/kernels/host/parallel.hpp>

namespace tcsolve::host {
namespace {

constexpr Index stretch = 512;  // rows that a thread takes at a time

/// f(i) for all rows.
template <class F>
void each_row(Host&, Index rows, F const& f) {
  parallel((rows + stretch - 1) / stretch, 2, [&](std::int64_t s) {
    auto const first = static_cast<Index>(s * stretch);
    for (Index i = first; i < std::min<std::int64_t>(rows, std::int64_t{first} + stretch); ++i)
      f(i);
  });
}

/// w -= factor times the entries [first, last) of the factors, on the ascending columns c[0,
/// count).
void subtract(JointArrays const& f, double const* values, double factor, Offset first, Offset last,
              Index const* c, Offset count, double* w) {
  for (Offset at = 0; first < last && at < count;)
    if (f.columns[first] < c[at])
      ++first;
    else if (f.columns[first] > c[at])
      ++at;
    else
      w[at++] -= factor * values[first++];
}

}  // namespace

void invert_triangles(Host& on, JointArrays const& f, double const* values, bool symmetric,
                      double* W) {
  each_row(on, f.rows, [&](Index i) {
    Offset const begin = f.begin[i], diagonal = f.diagonal[i], end = f.begin[i + 1];
    std::fill(W + begin, W + end, 0.0);
    W[diagonal] = 1;
    // w_ij = -sum_k w_ik l_kj, k from i down to j + 1.
    for (Offset k = diagonal; k >= begin; --k) {
      Index const row = f.columns[k];
      if (W[k] != 0)
        subtract(f, values, W[k], f.begin[row], f.diagonal[row], f.columns + begin, k - begin,
                 W + begin);
    }
    if (symmetric) return;
    // w_ij = -sum_k w_ik u_kj, k from i up to j - 1.
    for (Offset k = diagonal; k < end; ++k) {
      Index const row = f.columns[k];
      if (W[k] != 0)
        subtract(f, values, W[k], f.diagonal[row] + 1, f.begin[row + 1], f.columns + k + 1,
                 end - k - 1, W + k + 1);
    }
  });
  if (!symmetric) return;
  each_row(on, f.rows, [&](Index i) {
    for (Offset e = f.diagonal[i] + 1; e < f.begin[i + 1]; ++e) {
      Index const j = f.columns[e];
      Index const* const first = f.columns + f.begin[j];
      W[e] = W[f.begin[j] + (std::lower_bound(first, f.columns + f.diagonal[j], i) - first)];
    }
  });
}

void take_part(Host& on, JointArrays const& f, double const* values, JointPart part,
               OffsetsView offsets, double* to) {
  each_row(on, f.rows, [&](Index i) {
    Offset first, last;
    range_of(f, part, i, first, last);
    std::copy(values + first, values + last, to + offsets[i]);
  });
}

}  // namespace tcsolve::host
