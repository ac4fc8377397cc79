// SPDX-License-Identifier: Apache-2.0
/// What a product y = A x will take in each format, predicted from counts over the pattern.
///
///     time = rates . work          seven terms, none of them negative
///
/// `work` follows from the features of the matrix and the layout of the format; `rates` are
/// measured, once for a kind of device (docs/formats/choosing.md has the table that they came from
/// and how far it is off). The model is linear so that a handful of matrices determine it and a
/// reader can see what a format pays for.
#pragma once

#include <array>
#include <string>
#include <tuple>

#include <tcsolve/configs/schema/field.hpp>
#include <tcsolve/core/device_speeds.hpp>
#include <tcsolve/formats/features.hpp>
#include <tcsolve/operators/linear_operator.hpp>

namespace tcsolve {

enum class Format { csr, sell, csell, dasp, spaden, dia, bsell };
constexpr auto names(Format) {
  return std::array{std::pair{Format::csr, "csr"},       std::pair{Format::sell, "sell"},
                    std::pair{Format::csell, "csell"},   std::pair{Format::dasp, "dasp"},
                    std::pair{Format::spaden, "spaden"}, std::pair{Format::dia, "dia"},
                    std::pair{Format::bsell, "bsell"}};
}
char const* name(Format);

/// The parts of a product: as work, how much of each there is; as rates, microseconds for one unit.
struct Terms {
  double latency = 0;       ///< once
  double stream = 0;        ///< MB: the matrix as stored, x and y once each
  double slots = 0;         ///< millions of stored positions, padding too
  double rows = 0;          ///< millions
  double tiles = 0;         ///< millions of 8 x 8 tiles: where x is read from
  double long_entries = 0;  ///< millions in rows of more than 256
  double longest = 0;       ///< thousands of positions that one thread walks: of the longest row
  static constexpr auto schema() {
    using P = Terms;
    auto const least = at_least(0.0);
    return std::tuple{
        field(&P::latency, "latency", least, "us a product"),
        field(&P::stream, "stream", least, "us a MB of matrix and vectors"),
        field(&P::slots, "slots", least, "us a million stored positions"),
        field(&P::rows, "rows", least, "us a million rows"),
        field(&P::tiles, "tiles", least, "us a million 8 x 8 tiles with entries"),
        field(&P::long_entries, "long_entries", least, "us a million entries of long rows"),
        field(&P::longest, "longest", least,
              "us a thousand entries of the longest row, or diagonals")};
  }
  static constexpr std::size_t count = 7;
  std::array<double, count> array() const {
    return {latency, stream, slots, rows, tiles, long_entries, longest};
  }
  static Terms of(std::array<double, count> const& t) {
    return {t[0], t[1], t[2], t[3], t[4], t[5], t[6]};
  }
  bool operator==(Terms const&) const = default;
};
/// rates . work, in microseconds.
double dot(Terms const& rates, Terms const& work);

/// Work of a product with one vector. `long_rows` are those of 256 entries and more.
Terms work(Format, Features const&, Real values, Real vectors);
/// Bytes of the stored matrix, from the features alone: exact for csr, sell and dia (whose rounded
/// values may be symmetric where the matrix is not: half of it), for dasp and spaden within a few
/// percent (which rows share a unit is not known before they are sorted), for csell within 15 %
/// (which lines wait for each other is not known before they are walked, and strips of an odd
/// number of steps are filled up), for bsell exact where its block rows are not sorted, else within
/// a few percent.
double stored_bytes(Format, Features const&, Real values);

/// Bytes that a conversion takes beside the CSR matrix and the stored one, about.
double conversion_scratch(Format, Features const&);

/// What a format costs for values of one type.
struct FormatRates {
  Terms product;
  double convert = 0;          ///< us
  double convert_entries = 0;  ///< us a million
  double convert_rows = 0;     ///< us a million
  static constexpr auto schema() {
    using P = FormatRates;
    auto const least = at_least(0.0);
    return std::tuple{field(&P::product, "product", "of y = A x"),
                      field(&P::convert, "convert", least, "us to convert from CSR, besides"),
                      field(&P::convert_entries, "convert_entries", least, "us a million entries"),
                      field(&P::convert_rows, "convert_rows", least, "us a million rows")};
  }
  bool operator==(FormatRates const&) const = default;
};

/// Of a format. Values have the rates of their bytes, so BF16 those of FP16 (on the host, which
/// widens BF16 faster, too much); FP32 and 2 bytes were measured with x in FP32.
struct RatesByType {
  FormatRates fp64, fp32, fp16;
  double persistent = 0;         ///< us of a solver's step as one kernel; 0: there is none
  double persistent_stream = 0;  ///< us a MB that such a step touches
  static constexpr auto schema() {
    using P = RatesByType;
    auto const least = at_least(0.0);
    return std::tuple{
        field(&P::fp64, "fp64", "FP64 values"), field(&P::fp32, "fp32", "FP32"),
        field(&P::fp16, "fp16", "FP16 and BF16"),
        field(&P::persistent, "persistent", least,
              "us of a solver's step as one persistent kernel; 0: not offered"),
        field(&P::persistent_stream, "persistent_stream", least, "us a MB that it touches")};
  }
  bool operator==(RatesByType const&) const = default;
};

/// What orders cost that make x be found in the caches. Not measured by `tcsolve calibrate`.
struct OrderRates {
  double levels = 0;           ///< us of reverse Cuthill-McKee level by level, besides
  double levels_entries = 0;   ///< us a million entries of it; 0: always vertex by vertex
  double serial_entries = 0;   ///< us a million entries of it vertex by vertex, on the host
  double metis_entries = 0;    ///< us a million entries of an order by parts, on the host
  double permute = 0;          ///< us to make P A P^T, besides
  double permute_entries = 0;  ///< us a million entries
  static constexpr auto schema() {
    using P = OrderRates;
    auto const least = at_least(0.0);
    return std::tuple{
        field(&P::levels, "levels", least, "us of reverse Cuthill-McKee level by level, besides"),
        field(&P::levels_entries, "levels_entries", least,
              "us a million entries of it; 0: it goes vertex by vertex"),
        field(&P::serial_entries, "serial_entries", least,
              "us a million entries of it vertex by vertex, on the host; 0: no order is tried"),
        field(&P::metis_entries, "metis_entries", least,
              "us a million entries of an order by METIS, on the host; 0: none is tried"),
        field(&P::permute, "permute", least, "us to make P A P^T, besides"),
        field(&P::permute_entries, "permute_entries", least, "us a million entries of P A P^T")};
  }
  bool operator==(OrderRates const&) const = default;
};

/// All rates of one device, and what a solver's step is made of besides the product.
struct CostTable {
  std::string device;
  RatesByType csr, sell, csell, dasp, spaden, dia, bsell;
  FormatRates csr_mixed;   ///< csr where x has another type than the values; zero: no different
  double step = 0;         ///< us of a step besides product and passes
  double pass = 0;         ///< us of a pass over vectors
  double pass_stream = 0;  ///< us a MB of it
  double cache = 0;        ///< MB of it: what a persistent step touches beyond is read from memory
  OrderRates order;
  static constexpr auto schema() {
    using P = CostTable;
    auto const least = at_least(0.0);
    return std::tuple{field(&P::device, "device", "what was measured"),
                      field(&P::csr, "csr", "compressed sparse rows"),
                      field(&P::csr_mixed, "csr_mixed",
                            "csr where x has another type than the values; zero: no different"),
                      field(&P::sell, "sell", "slices of 32 rows"),
                      field(&P::csell, "csell", "slices of 32 rows with 8-bit column numbers"),
                      field(&P::dasp, "dasp", "DASP"),
                      field(&P::spaden, "spaden", "bitBSR"),
                      field(&P::dia, "dia", "diagonals"),
                      field(&P::bsell, "bsell", "slices of dense blocks"),
                      field(&P::step, "step", least, "us of a solver's step besides its passes"),
                      field(&P::pass, "pass", least, "us of a pass over vectors, besides"),
                      field(&P::pass_stream, "pass_stream", least, "us a MB of a pass"),
                      field(&P::cache, "cache", least, "MB of the device's cache"),
                      field(&P::order, "order", "orders of rows and columns")};
  }
  RatesByType const& of(Format) const;
  FormatRates const& rates(Format, Real values) const;
  /// The same for x of another type: cuSPARSE has no such product, and csr is a plain kernel then.
  FormatRates const& rates(Format, Real values, Real vectors) const;
  FormatRates& rates(Format, Real values);
  bool operator==(CostTable const&) const = default;

  static CostTable h200();  ///< as measured
  static CostTable host();  ///< the host backend
  /// Rates of another GPU by what its driver says of it: those of the H200 with what comes from the
  /// memory in proportion to its bandwidth, what comes from the caches to multiprocessors and
  /// clock, and no product faster than FP64 units are. Not measured, and `device` says so; an H200
  /// has its own.
  static CostTable of_gpu(cuda::Facts const&, cuda::Speeds const&);
  /// The one for a Context's space.
  static CostTable shipped(Context const&);
  /// A file that `tcsolve calibrate` wrote. Throws ConfigError.
  static CostTable load(std::string const& path);
};

/// min over rates >= 0 of sum over k of (rates . work_k / time_k - 1)^2: Lawson and Hanson 1974,
/// algorithm NNLS, on relative errors. Throws ShapeError when the two differ in size or a time is
/// not positive.
Terms fit(std::vector<Terms> const& work, std::vector<double> const& times);

/// Rates of another device or clock from fewer samples than terms: a latency of their own, and the
/// other rates times one factor, fitted as by fit(); as they are where times do not grow with the
/// work. Throws what fit() throws.
Terms rescaled(Terms const& rates, std::vector<Terms> const& work,
               std::vector<double> const& times);

}  // namespace tcsolve
