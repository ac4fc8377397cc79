// SPDX-License-Identifier: Apache-2.0
/// The descriptor of a matrix format: all that the rest of tcsolve uses of it.
///
///     Format xyz_format() {                               // formats/xyz/format.cpp
///       return {.name = "xyz",
///               .doc = "what it is for, in a line",
///               .can = {.dot = true, .persistent = true},
///               .refuses = [](Features const&, PlanRequest const&) -> std::string { ... },
///               .layout = [](Features const&, Real values) -> FormatLayout { ... },
///               .estimate = [](Real values, double rows, double entries) { ... },
///               .facts = {&fact_of_its_own},
///               .factory = factory_of<RoundingFactory<XyzOperator>>(),
///               .makers = makers_of<XyzOperator>()};
///     }
///     TCSOLVE_ADD(xyz);                                    // register.cpp, the line
///
/// The planner, the cost model, `info`, `calibrate`, the benches and the tests go through a
/// FormatList and name no format but csr, which all others are made from. What a
/// product costs, microseconds a unit of work, is data: configs/rates/.
#pragma once

#include <deque>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <tcsolve/formats/intensity.hpp>
#include <tcsolve/formats/survey.hpp>
#include <tcsolve/operators/linear_operator.hpp>

namespace tcsolve {

class FormatList;
class OperatorFactory;
struct Format;
struct MatrixParams;
template <class Product, class... Args>
class Registry;

/// The formats that tcsolve has.
FormatList const& formats();

/// What a matrix is multiplied for.
struct PlanRequest {
  Real values = Real::f64, vectors = Real::f64;
  double applies = 200;    ///< products that the conversion is to pay for
  Index columns = 1;       ///< of the blocks that are multiplied
  bool transpose = false;  ///< A^T is needed too
  bool persistent = true;  ///< the step may run as one kernel where it is small enough
  /// Bytes that the operator, the CSR matrix that it is made from and what the conversion needs
  /// besides may take together; csr is taken whatever it needs.
  double memory = std::numeric_limits<double>::infinity();
  FormatList const* among = &formats();  ///< to choose from; outlives what is made of the request
};

/// How a format stores a matrix of these features, values of one type.
struct FormatLayout {
  /// Bytes of the stored matrix. The descriptor says how exact they are.
  double stored = 0;
  double slots = 0;    ///< positions that a product reads, padding too
  double scratch = 0;  ///< bytes that a conversion takes besides the CSR matrix and the stored one
  double walked = 0;   ///< positions that one thread walks from end to end
};

/// Makes an operator from a CSR matrix in the Context's space or on the host.
template <class T, class S>
struct Maker {
  /// `seen`: what is known of the matrix and need not be counted again; may be null.
  std::function<std::shared_ptr<LinearOperator<T>>(Context&, CsrView<S> const&, Survey const* seen)>
      make;
  /// New values of the stored type for an operator that make() made.
  std::function<void(Context&, LinearOperator<T>&, CsrView<S> const&)> update_values;
};
using Makers = std::tuple<Maker<double, double>, Maker<double, float>, Maker<double, half>,
                          Maker<double, bfloat16>, Maker<float, float>, Maker<float, half>,
                          Maker<float, bfloat16>>;

/// Another tuning of a format, which bench_spmv times beside it.
struct Variant {
  std::string name;
  Makers makers;
  bool swept = true;  ///< with --pass alone
  /// Whether it differs from the format's own tuning for this matrix and these types; empty: yes.
  std::function<bool(Features const&, Real values, Real vectors)> differs = {};
  double roundoff = 0;  ///< of its sums; 0: that of the vectors
};

/// A format as `operator: {format: name}`, with parameters of its own (formats/format_factory.hpp
/// makes it of a class).
struct FormatFactory {
  using Operators = Registry<OperatorFactory>;
  std::function<void(Operators&, Format const&, FormatList const&)> enlist;
  /// With the parameters that every format has, its own being the defaults.
  std::function<std::unique_ptr<OperatorFactory>(MatrixParams const&, Format const&,
                                                 FormatList const&)>
      with;
};

/// What a format predicts of its products with many columns, by a model of its own.
struct FormatModel {
  std::vector<std::pair<std::string, double>> terms;  ///< counts, by the letters of the source
  std::string decision;                               ///< what was decided by them, in words
  /// For vectors of the values' type (FP32 at least) and layout.
  std::function<Levels(Real values, Layout)> intensity;
};

struct Format {
  std::string name;  ///< of the operators too
  std::string doc;   ///< one line for `--list`

  struct Can {
    bool dot = false;         ///< <x, A x> is made in the pass that makes A x
    bool transpose = false;   ///< A^T x
    bool persistent = false;  ///< the persistent kernel has the product, in types of planner.cpp
    double cache_share = 2;   ///< and up to how often what the cache holds (OpFacts::cache_share)
    bool columns = true;      ///< A X with any number of columns
  } can;

  /// False of csr alone, which all other formats are made from and which holds every matrix.
  bool converted = true;
  /// Why the format is not for a matrix of these features; empty when it is. The planner looks
  /// after memory, transposes and missing rates.
  std::function<std::string(Features const&, PlanRequest const&)> refuses = {};
  std::function<FormatLayout(Features const&, Real values)> layout;
  /// Bytes of the stored matrix where no more than its extents is known.
  std::function<double(Real values, double rows, double entries)> estimate;
  /// What the layout depends on besides the rows and tiles_fact, cheapest first.
  Facts facts = {};

  FormatFactory factory;
  Makers makers;
  /// With a tuning by which small matrices have every part of the format: the contract tests take
  /// them beside `makers`. None: they have.
  std::optional<Makers> miniature = {};
  /// Empty: the format has one tuning.
  std::function<std::vector<Variant>()> variants = {};
  /// Of a canonical matrix in the Context's space, for `info` and the benches. Empty: it has no
  /// model of its own. Cost: that of a conversion.
  std::function<FormatModel(Context&, CsrView<double> const&)> model = {};

  /// y = A x in this format. Throws what the operator's constructor throws.
  template <class T, class S = T>
  std::shared_ptr<LinearOperator<T>> make(Context& ctx, CsrView<S> const& a,
                                          Survey const* seen = nullptr) const {
    return std::get<Maker<T, S>>(makers).make(ctx, a, seen);
  }
};

/// Formats by name, in the order in which they were added. They stay where they are.
class FormatList {
 public:
  FormatList() = default;
  FormatList(FormatList const&) = delete;  // plans and factories point here
  FormatList& operator=(FormatList const&) = delete;

  /// Throws std::logic_error when the name is taken or something is missing.
  FormatList& add(Format);
  auto begin() const { return formats_.begin(); }
  auto end() const { return formats_.end(); }
  std::size_t size() const { return formats_.size(); }
  std::vector<std::string> names() const;
  /// Null when there is none of this name.
  Format const* find(std::string_view name) const;
  /// Throws Unsupported when there is none, naming those there are.
  Format const& at(std::string_view name) const;
  /// The format that all others are made from: csr.
  Format const& source() const;
  /// All features that a plan may need: what each format depends on, then tiles_fact.
  Facts facts() const;

 private:
  std::deque<Format> formats_;
};

/// Adds the formats that tcsolve has (formats/register.cpp).
void register_formats(FormatList&);

/// The rows of a canonical matrix in the Context's space, the rest to be looked at.
template <class S>
Survey survey(Context& ctx, CsrView<S> const& a, FormatList const& among = formats()) {
  return Survey(ctx, a, among.facts());
}

/// All features that the formats depend on; host and device give the same numbers. Cost: every
/// fact, which is more than a decision mostly needs.
template <class S>
Features features(Context& ctx, CsrView<S> const& a, FormatList const& among = formats()) {
  Survey seen = survey(ctx, a, among);
  seen.look(ctx, a);
  return seen.least();
}

/// Why `format` cannot be taken for a matrix of these features, rates aside; empty when it can.
std::string why_not(Format const&, Features const&, PlanRequest const&);

/// y = A x in one format, values stored as S. Throws what the format's constructor throws, and
/// Unsupported for a name that formats() lacks.
template <class T, class S = T>
std::shared_ptr<LinearOperator<T>> make_operator(Context& ctx, CsrView<S> const& a,
                                                 Format const& format,
                                                 Survey const* seen = nullptr) {
  return format.make<T, S>(ctx, a, seen);
}
template <class T, class S = T>
std::shared_ptr<LinearOperator<T>> make_operator(Context& ctx, CsrView<S> const& a,
                                                 std::string_view format) {
  return formats().at(format).make<T, S>(ctx, a);
}

}  // namespace tcsolve
