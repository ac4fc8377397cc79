// SPDX-License-Identifier: Apache-2.0
/// A new numbering of rows and columns, and a matrix in it.
///
///     old numbers  2 0 1       what was row 2 becomes row 0, what was row 0 becomes row 1, ...
///
///     x = [ a b c ]     P x = [ c a b ]      (P x)_i = x_{old(i)},   P^T = P^-1
///
///     A = [ 1 2 . ]     P A P^T = [ 6 . 5 ]  b_ij = a_{old(i) old(j)}
///         [ 3 . 4 ]               [ . 1 2 ]
///         [ . 5 6 ]               [ 4 3 . ]
///
/// A x = b  <=>  (P A P^T)(P x) = P b: eigenvalues, norms and residuals are those of A.
#pragma once

#include <span>
#include <vector>

#include <tcsolve/matrix/transfer.hpp>

namespace tcsolve {

/// A bijection of 0 .. n-1 onto itself, known from both sides. 8 n bytes.
class Permutation {
 public:
  /// Of nothing.
  Permutation() = default;
  /// old_numbers[i] is the old number of what becomes number i. Throws MatrixError, naming the
  /// elements, when a number is outside [0, n) or occurs twice; SizeError beyond 2^31 - 1 elements.
  /// Cost: one pass with random writes.
  explicit Permutation(std::vector<Index> old_numbers);
  static Permutation identity(Index n);

  Index size() const { return static_cast<Index>(old_.size()); }
  std::span<Index const> old_numbers() const { return old_; }
  /// new_numbers()[old_numbers()[i]] == i.
  std::span<Index const> new_numbers() const { return new_; }
  bool is_identity() const;
  Permutation inverse() const;
  friend bool operator==(Permutation const&, Permutation const&) = default;

 private:
  std::vector<Index> old_, new_;
};

/// P A P^T for a square host matrix, canonical if A is. Throws ShapeError unless A is square, on
/// the host, and of P's size. Cost: one pass over A and a sort of each row, shared between
/// `threads` (0: all there are); the result is the same for any number.
template <class T>
Csr<T> permuted(CsrView<T> const& a, Permutation const& P, int threads = 0);

/// The same of a matrix in the Context's space, made and left there
/// (graph/reorder/permute_build.hpp): the same numbers. Throws ShapeError unless A is square,
/// there, and of P's size. Cost: columns and values three times, 8 bytes a row from the host; 4
/// bytes an entry and 40 a row of scratch.
template <class T>
CsrStorage<T> permuted(Context&, CsrView<T> const& a, Permutation const& P);

}  // namespace tcsolve
