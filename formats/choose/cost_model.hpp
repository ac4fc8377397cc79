// SPDX-License-Identifier: Apache-2.0
/// What a product y = A x will take in each format, predicted from counts over the pattern.
///
///     time = rates . work          seven terms, none of them negative
///
/// `work` follows from the features of the matrix and the layout of the format; `rates` are
/// measured, once for a kind of device: files in configs/rates/, which the library carries
/// (docs/formats/choosing.md has the table that they came from and how far it is off). The model is
/// linear so that a handful of matrices determine it and a reader can see what a format pays for.
#pragma once

#include <array>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <tcsolve/configs/schema/field.hpp>
#include <tcsolve/configs/schema/node.hpp>
#include <tcsolve/core/device_speeds.hpp>
#include <tcsolve/formats/format.hpp>
#include <tcsolve/sparse/spmspv_choice.hpp>

namespace tcsolve {

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

/// Work of a product with one vector.
Terms work(Format const&, Features const&, Real values, Real vectors);

constexpr Index columns_of_block = 32;

/// What a format costs for values of one type.
struct FormatRates {
  Terms product;
  /// Of a product with many columns: once for every 32 of them, and for each. Zero: columns are
  /// multiplied one by one.
  Terms block, column;
  double convert = 0;          ///< us
  double convert_entries = 0;  ///< us a million
  double convert_rows = 0;     ///< us a million
  static constexpr auto schema() {
    using P = FormatRates;
    auto const least = at_least(0.0);
    return std::tuple{field(&P::product, "product", "of y = A x"),
                      field(&P::block, "block", "of Y = A X, for every 32 columns"),
                      field(&P::column, "column", "of Y = A X, for each column besides"),
                      field(&P::convert, "convert", least, "us to convert from CSR, besides"),
                      field(&P::convert_entries, "convert_entries", least, "us a million entries"),
                      field(&P::convert_rows, "convert_rows", least, "us a million rows")};
  }
  bool operator==(FormatRates const&) const = default;
};

/// us of a product with `columns` columns, `work` that of a product with one.
double product_time(FormatRates const&, Terms const& work, Index columns);

/// What products of sparse vectors cost in each way, us: SpmspvRates, which says what is looked at.
struct SparseRates : SpmspvRates {
  static constexpr auto schema() {
    using P = SpmspvRates;
    auto const least = at_least(0.0);
    return std::tuple{
        field(&P::rows, "rows", least, "us of a product by rows, besides"),
        field(&P::rows_looked, "rows_looked", least, "us a million tile rows of 16 looked at"),
        field(&P::rows_multiplied, "rows_multiplied", least, "us a million entries multiplied"),
        field(&P::columns, "columns", least, "us of one by columns, besides"),
        field(&P::columns_looked, "columns_looked", least, "us a million tile rows found"),
        field(&P::columns_multiplied, "columns_multiplied", least,
              "us a million entries multiplied"),
        field(&P::entries, "entries", least, "us of one by entries, besides"),
        field(&P::entries_looked, "entries_looked", least, "us a million tile rows found"),
        field(&P::entries_multiplied, "entries_multiplied", least,
              "us a million entries multiplied"),
        field(&P::dense, "dense", least, "us of one by the dense product, besides"),
        field(&P::dense_looked, "dense_looked", least,
              "us a million tile rows for which no tile of x is there"),
        field(&P::dense_multiplied, "dense_multiplied", least, "us a million entries of A"),
        field(&P::given, "given", least, "us besides a dense product that was given"),
        field(&P::given_looked, "given_looked", least, "us a million tile rows of 16 of it")};
  }
  bool operator==(SparseRates const&) const = default;
};

/// Of a format. Values have the rates of their bytes, so BF16 those of FP16 (on the host, which
/// widens BF16 faster, too much); FP32 and 2 bytes were measured with x in FP32.
struct RatesByType {
  FormatRates fp64, fp32, fp16;
  FormatRates mixed;             ///< narrower values under FP64 vectors; zero: no different
  SparseRates sparse;            ///< of a format that multiplies sparse vectors
  double persistent = 0;         ///< us of a solver's step as one kernel; 0: there is none
  double persistent_stream = 0;  ///< us a MB that such a step touches ...
  double persistent_memory = 0;  ///< ... and beyond what the cache holds; 0: as in any pass
  /// us a thousand positions of the longest row that a thread walks there, beyond the first
  /// walked_at_once, which the other rates cover.
  double persistent_longest = 0;
  static constexpr double walked_at_once = 40;
  static constexpr auto schema() {
    using P = RatesByType;
    auto const least = at_least(0.0);
    return std::tuple{
        field(&P::fp64, "fp64", "FP64 values"),
        field(&P::fp32, "fp32", "FP32"),
        field(&P::fp16, "fp16", "FP16 and BF16"),
        field(&P::mixed, "mixed", "narrower values under FP64 vectors; zero: no different"),
        field(&P::sparse, "sparse", "of products of sparse vectors, where the format has them"),
        field(&P::persistent, "persistent", least,
              "us of a solver's step as one persistent kernel; 0: not offered"),
        field(&P::persistent_stream, "persistent_stream", least, "us a MB that it touches"),
        field(&P::persistent_memory, "persistent_memory", least,
              "us a MB beyond what the cache holds; 0: as in any pass"),
        field(&P::persistent_longest, "persistent_longest", least,
              "us a thousand positions of the longest row beyond the first 40")};
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

/// What factorisations and solves with their factors cost, in seconds, on a device and on the host
/// beside it (docs/internals/factorisations.md). Not measured by `tcsolve calibrate`.
struct FactorRates {
  // Triangular solves by levels: besides, a level, and an entry of a row, which waits for another.
  double solve = 10e-6, solve_level = 0.8e-6, solve_wait = 0.075e-6;
  // Numbers on a pattern: besides, a level, an entry of a row, a subtraction.
  double make = 250e-6, make_level = 1e-6, make_wait = 0.02e-6, make_subtraction = 0.045e-9;
  // A step of a short recurrence with jacobi: besides, an entry.
  double step = 25e-6, step_entries = 7e-12;
  // The host: both copies of a vector, an entry and a row of a triangular solve; a subtraction of
  // incomplete and of complete factors, an entry of either; an entry of A when factors by size are
  // made of it.
  double host_copies = 60e-6, host_entries = 1.1e-9, host_rows = 6e-9;
  double host_subtraction = 2.5e-9, host_complete = 0.9e-9, host_number = 10e-9;
  double host_incomplete = 0.27e-6;
  bool operator==(FactorRates const&) const = default;
  static constexpr auto schema() {
    using P = FactorRates;
    auto const least = at_least(0.0);
    return std::tuple{
        field(&P::solve, "solve", least, "s of both triangular solves by levels, besides"),
        field(&P::solve_level, "solve_level", least, "s a level of them"),
        field(&P::solve_wait, "solve_wait", least, "s an entry of a row, which waits for another"),
        field(&P::make, "make", least, "s to make the numbers of factors, besides"),
        field(&P::make_level, "make_level", least, "s a level of them"),
        field(&P::make_wait, "make_wait", least, "s an entry of a row"),
        field(&P::make_subtraction, "make_subtraction", least, "s a subtraction"),
        field(&P::step, "step", least, "s of a short recurrence's step with jacobi, besides"),
        field(&P::step_entries, "step_entries", least, "s an entry of A in it"),
        field(&P::host_copies, "host_copies", least, "s to bring a vector to the host and back"),
        field(&P::host_entries, "host_entries", least, "s an entry of a solve by the host"),
        field(&P::host_rows, "host_rows", least, "s a row of it"),
        field(&P::host_subtraction, "host_subtraction", least, "s a subtraction by the host"),
        field(&P::host_complete, "host_complete", least, "s one of complete factors"),
        field(&P::host_number, "host_number", least, "s an entry of factors"),
        field(&P::host_incomplete, "host_incomplete", least,
              "s an entry of A where the host makes factors by size")};
  }
};

/// All rates of one device, and what a solver's step is made of besides the product.
struct CostTable {
  std::string device;
  std::map<std::string, RatesByType> by_format;  ///< by name; what is missing has no rates
  double step = 0;                               ///< us of a step besides product and passes
  double pass = 0;                               ///< us of a pass over vectors
  double pass_stream = 0;                        ///< us a MB of it
  double cache = 0;  ///< MB of it: what a persistent step touches beyond is read from memory
  OrderRates order;
  FactorRates factors;
  static constexpr auto schema() {
    using P = CostTable;
    auto const least = at_least(0.0);
    return std::tuple{field(&P::device, "device", "what was measured"),
                      field(&P::step, "step", least, "us of a solver's step besides its passes"),
                      field(&P::pass, "pass", least, "us of a pass over vectors, besides"),
                      field(&P::pass_stream, "pass_stream", least, "us a MB of a pass"),
                      field(&P::cache, "cache", least, "MB of the device's cache"),
                      field(&P::order, "order", "orders of rows and columns"),
                      field(&P::factors, "factors", "factorisations, and solves with factors")};
  }
  /// Zero where there are none.
  RatesByType const& of(std::string const& format) const;
  FormatRates const& rates(std::string const& format, Real values) const;
  /// The same for x of another type: where a library has no such product, and the format has a
  /// kernel for it, the rates are that kernel's.
  FormatRates const& rates(std::string const& format, Real values, Real vectors) const;
  FormatRates& rates(std::string const& format, Real values);
  bool operator==(CostTable const&) const = default;

  static CostTable h200();  ///< configs/rates/h200.yaml: as measured
  static CostTable h100();  ///< configs/rates/h100.yaml: as `tcsolve calibrate` measured
  static CostTable host();  ///< configs/rates/host.yaml: the host backend
  /// Rates of another GPU by what its driver says of it: those of the H200 with what comes from the
  /// memory in proportion to its bandwidth, what comes from the caches to multiprocessors and
  /// clock, and no product faster than FP64 units are. Not measured, and `device` says so; an H200
  /// and an H100 with HBM3 have their own.
  static CostTable of_gpu(cuda::Facts const&, cuda::Speeds const&);
  /// The one for a Context's space.
  static CostTable shipped(Context const&);
  /// A file that `tcsolve calibrate` wrote, with rates for formats of the list; a format may be
  /// missing. Throws ConfigError.
  static CostTable load(std::string const& path, FormatList const& = formats());
  /// The same from text; `name` stands for the file in messages.
  static CostTable parse(std::string const& text, std::string const& name,
                         FormatList const& = formats());
};
/// What load() reads: a block of rates for each format, by name, and one key for each other member.
ConfigNode to_node(CostTable const&);

/// min over rates >= 0 of sum over k of (rates . work_k / time_k - 1)^2: Lawson and Hanson 1974,
/// algorithm NNLS, on relative errors. Throws ShapeError when the two differ in size or a time is
/// not positive.
Terms fit(std::vector<Terms> const& work, std::vector<double> const& times);
/// The same of any number of terms: row k of `work` are those of time k.
template <std::size_t n>
std::array<double, n> fit_rates(std::vector<std::array<double, n>> const& work,
                                std::vector<double> const& times);

/// Rates of another device or clock from fewer samples than terms: a latency of their own, and the
/// other rates times one factor, fitted as by fit(); as they are where times do not grow with the
/// work. Throws what fit() throws.
Terms rescaled(Terms const& rates, std::vector<Terms> const& work,
               std::vector<double> const& times);

}  // namespace tcsolve
