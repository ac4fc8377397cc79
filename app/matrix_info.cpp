// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/app/matrix_info.hpp>

#include <tcsolve/core/error.hpp>
#include <tcsolve/core/host_memory.hpp>
#include <tcsolve/formats/choose/ordering.hpp>
#include <tcsolve/io/matrix_file.hpp>
#include <tcsolve/matrix/reorder/locality.hpp>

#include <algorithm>
#include <cstdio>

namespace tcsolve {
namespace {

std::string number(double v) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", v);
  return text;
}

std::string symmetry_text(CsrSummary const& s) {
  if (s.rows != s.cols) return "not square";
  if (s.pattern_symmetric && s.asymmetry == 0) return "symmetric";
  return cat("nonsymmetric: norm(A - A^T) / norm(A) = ", number(s.asymmetry), ", pattern ",
             s.pattern_symmetric ? "symmetric" : "nonsymmetric");
}

std::string histogram_text(CsrSummary const& s) {
  std::string text = "row lengths     rows\n";
  Offset const most =
      s.histogram.empty() ? 0 : *std::max_element(s.histogram.begin(), s.histogram.end());
  for (std::size_t bin = 0; bin < s.histogram.size(); ++bin) {
    if (s.histogram[bin] == 0) continue;
    Offset const high = bin == 0 ? 0 : Offset{1} << (bin - 1);
    Offset const low = bin < 2 ? high : high / 2 + 1;
    std::string const range = low == high ? cat(low) : cat(low, "-", high);
    auto const bar = static_cast<std::size_t>(40 * s.histogram[bin] / most);
    char line[96];
    std::snprintf(line, sizeof line, "  %-12s  %-10lld", range.c_str(),
                  static_cast<long long>(s.histogram[bin]));
    text += line + std::string(bar, '#') + "\n";
  }
  return text;
}

/// What `operator: {format: auto, reorder: auto}` would take, and why.
std::string plan_text(Csr<double> const& a, std::string const& calibration) {
  Context ctx(Backend::host);
  Features const f = features(ctx, a.view());
  auto const plan = [&](CostTable const& table) {
    std::string const formats = text(make_plan(f, {}, table));
    if (a.rows != a.cols) return formats;
    return formats + text(*ordered(ctx, a, {}, table).plan);
  };
  if (!calibration.empty()) return plan(CostTable::load(calibration));
  return plan(CostTable::h200()) + plan(CostTable::host());
}

}  // namespace

std::string matrix_info(std::filesystem::path const& file, std::string const& calibration) {
  MatrixFileSize const size = matrix_file_size(file);
  // The summary transposes the matrix: twice its size, and what reading takes.
  require_memory(std::max(2 * size.csr_bytes, size.reading_bytes), 0, file_name(file));
  Csr<double> const a = read_matrix(file);
  CsrSummary const s = summarize(a);
  Locality const near = locality(a);
  double const mean = s.rows > 0 ? double(s.entries) / s.rows : 0;
  return cat("file            ", file_name(file), "\n",                                //
             "size            ", s.rows, " x ", s.cols, "\n",                          //
             "entries         ", s.entries, " (", size.stored, " in the file)\n",      //
             "symmetry        ", symmetry_text(s), "\n",                               //
             "diagonal        ", s.zero_diagonal, " zero or absent, ",                 //
             s.negative_diagonal, " negative\n",                                       //
             "dominance       ", s.dominant_rows, " of ", s.rows, " rows\n",           //
             "bandwidth       ", s.bandwidth, ", profile ", near.profile, "\n",        //
             "locality        ", number(near.gather()),                                //
             " bytes of x an entry (0.25 to 32; docs/reordering.md)\n",                //
             "norms           inf ", number(s.norm_inf), ", Frobenius ",               //
             number(s.norm_frobenius), ", largest entry ", number(s.max_abs), "\n",    //
             "entries a row   least ", s.min_row, ", mean ", number(mean), ", most ",  //
             s.max_row, "; ", s.empty_rows, " rows are empty\n",                       //
             histogram_text(s), plan_text(a, calibration));
}

}  // namespace tcsolve
