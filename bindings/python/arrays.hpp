// SPDX-License-Identifier: Apache-2.0
/// Python's arrays as the library's views, where they lie, and memory of the library as arrays.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <tcsolve/core/coo_view.hpp>
#include <tcsolve/core/csr_view.hpp>
#include <tcsolve/matrix/caller_csr.hpp>
#include <tcsolve/solvers/report.hpp>

namespace nb = nanobind;

namespace tcsolve::python {

using InVector = nb::ndarray<double const, nb::ndim<1>, nb::c_contig>;
using OutVector = nb::ndarray<double, nb::ndim<1>, nb::c_contig>;
using Block2 = nb::ndarray<double const, nb::ndim<2>>;
using HostRows = nb::ndarray<double const, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using OutBlock2 = nb::ndarray<double, nb::ndim<2>>;
using Numbers = nb::ndarray<nb::ro, nb::ndim<1>, nb::c_contig>;
using OutNumbers = nb::ndarray<nb::ndim<1>, nb::c_contig>;

template <class Array>
Space space_of(Array const& a) {
  if (a.device_type() == nb::device::cpu::value) return Space::host;
  if (a.device_type() == nb::device::cuda::value ||
      a.device_type() == nb::device::cuda_managed::value)
    return device_space(a.device_id(), 0);
  throw Unsupported("an array that lies neither on the host nor on a CUDA device");
}

inline NumberKind number_type(nb::dlpack::dtype type) {
  if (type == nb::dtype<std::int32_t>()) return NumberKind::i32;
  if (type == nb::dtype<std::int64_t>()) return NumberKind::i64;
  if (type == nb::dtype<float>()) return NumberKind::f32;
  if (type == nb::dtype<double>()) return NumberKind::f64;
  throw ShapeError("an array of other numbers than int32, int64, float32, float64");
}
inline NumbersView numbers_view(Numbers const& a) { return {a.data(), number_type(a.dtype())}; }

inline Index length(InVector const& a) {
  return narrow(static_cast<std::int64_t>(a.size()), "length");
}

/// A block with the columns or the rows adjacent, where it lies.
template <class T, class Array>
MultiView<T> block_view(Array const& a) {
  Index const rows = narrow(static_cast<std::int64_t>(a.shape(0)), "rows");
  Index const cols = narrow(static_cast<std::int64_t>(a.shape(1)), "columns");
  std::int64_t const down = a.stride(0), across = a.stride(1);
  if (down == 1 || rows <= 1)
    return {a.data(),          rows,       cols, std::max<std::int64_t>(across, rows),
            Layout::col_major, space_of(a)};
  if (across != 1 && cols > 1) throw ShapeError("a block whose rows and columns both have gaps");
  return {a.data(), rows, cols, down, Layout::row_major, space_of(a)};
}

/// Python's arrays as a CSR matrix; nothing is copied.
inline CsrView<double> csr_view(std::int64_t rows, std::int64_t cols, Numbers const& indptr,
                                Numbers const& indices, InVector const& data) {
  CsrView<double> a;
  a.rows = narrow(rows, "rows");
  a.cols = narrow(cols, "columns");
  a.entries = static_cast<Offset>(data.size());
  a.space = space_of(data);
  if (indptr.dtype() == nb::dtype<std::int32_t>())
    a.offsets = OffsetsView(static_cast<std::int32_t const*>(indptr.data()));
  else if (indptr.dtype() == nb::dtype<std::int64_t>())
    a.offsets = OffsetsView(static_cast<std::int64_t const*>(indptr.data()));
  else
    throw ShapeError("indptr: int32 or int64");
  if (indices.dtype() != nb::dtype<std::int32_t>()) throw ShapeError("indices: int32");
  if (indptr.size() != static_cast<std::size_t>(a.rows) + 1 || indices.size() != data.size())
    throw ShapeError(cat("CSR of ", rows, " rows: indptr has ", indptr.size(), " numbers, indices ",
                         indices.size(), ", data ", data.size()));
  a.columns = static_cast<std::int32_t const*>(indices.data());
  a.values = data.data();
  return a;
}

/// Python's arrays as entries; nothing is copied.
inline CooView coo_view(std::int64_t rows, std::int64_t cols, Numbers const& i, Numbers const& j,
                        InVector const& values) {
  if (i.dtype() != nb::dtype<std::int32_t>() || j.dtype() != nb::dtype<std::int32_t>())
    throw ShapeError("entries: int32 rows and columns");
  if (i.size() != values.size() || j.size() != values.size())
    throw ShapeError(
        cat("entries: ", i.size(), " rows, ", j.size(), " columns, ", values.size(), " values"));
  if (space_of(i) != space_of(values) || space_of(j) != space_of(values))
    throw ShapeError("entries: rows, columns and values lie in different places");
  return {narrow(rows, "rows"),
          narrow(cols, "columns"),
          static_cast<Offset>(values.size()),
          static_cast<std::int32_t const*>(i.data()),
          static_cast<std::int32_t const*>(j.data()),
          values.data(),
          space_of(values)};
}

inline nb::object history(SolveReport const& r) {
  auto* const norms = new std::vector<double>;
  norms->reserve(r.history.size());
  for (Record const& h : r.history) norms->push_back(h.norm);
  nb::capsule const owner(norms,
                          [](void* p) noexcept { delete static_cast<std::vector<double>*>(p); });
  return nb::cast(
      nb::ndarray<nb::numpy, double, nb::ndim<1>>(norms->data(), {norms->size()}, owner));
}

template <class T>
nb::object taken_over(std::vector<T> values) {
  auto* const kept = new std::vector<T>(std::move(values));
  nb::capsule const owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return nb::cast(nb::ndarray<nb::numpy, T, nb::ndim<1>>(kept->data(), {kept->size()}, owner));
}

/// Memory that its owner knows by address alone. device -1: of the host; -2: of a device, and which
/// nobody says: any. by_columns: the first extent is the adjacent one.
inline nb::object by_address(std::uintptr_t data, std::vector<std::size_t> const& shape, char kind,
                             int bits, bool read_only, nb::handle owner, int device,
                             bool by_columns) {
  using Code = nb::dlpack::dtype_code;
  Code const code = kind == 'f' ? Code::Float : kind == 'u' ? Code::UInt : Code::Int;
  if (kind != 'f' && kind != 'u' && kind != 'i')
    throw Unsupported("an array whose numbers are neither integers nor real");
  nb::dlpack::dtype const type{static_cast<std::uint8_t>(code), static_cast<std::uint8_t>(bits), 1};
  auto* const p = reinterpret_cast<void*>(data);
  int const where = device == -1 ? nb::device::cpu::value : nb::device::cuda::value;
  int const id = device == -1 ? 0 : device == -2 ? -1 : device;
  std::vector<std::int64_t> strides(shape.size(), 1);
  for (std::size_t k = 1; by_columns && k < shape.size(); ++k)
    strides[k] = strides[k - 1] * static_cast<std::int64_t>(shape[k - 1]);
  std::int64_t const* const steps = by_columns ? strides.data() : nullptr;
  if (read_only)
    return nb::cast(nb::ndarray<nb::array_api, nb::ro>(p, shape.size(), shape.data(), owner, steps,
                                                       type, where, id));
  return nb::cast(
      nb::ndarray<nb::array_api>(p, shape.size(), shape.data(), owner, steps, type, where, id));
}

}  // namespace tcsolve::python
