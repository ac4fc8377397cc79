// SPDX-License-Identifier: Apache-2.0
/// The halo of a vector, brought from its owners and back.
///
///     begin(x);                 what others want of x is on its way
///     y = own x                 meanwhile
///     h = end()                 x of the halo is here
///
///     begin_return(h);          the other way: each h_j goes to its owner ..
///     end_return(alpha, y);     .. who adds what has come, neighbour by neighbour: the same bits in
///                               every run
#pragma once

#include <tcsolve/core/array.hpp>
#include <tcsolve/core/context.hpp>
#include <tcsolve/distributed/halo_plan.hpp>

namespace tcsolve {

/// Serves one Context, and one of the two exchanges at a time. On a device the values go by way of
/// the host.
class Halo {
 public:
  Halo(Context&, HaloPlan const& plan);

  Index size() const { return plan_.halo(); }
  HaloPlan const& plan() const { return plan_; }
  /// Blocks of any number of columns, in the Context's space; what is returned is row-major,
  /// without gaps, and stays as it is until the next call.
  void begin(Context&, In<double> x);
  double const* end(Context&);
  /// Where h is to be written for begin_return(): halo() rows, row-major.
  double* place(Context&, Index cols);
  void begin_return(Context&, Index cols);
  void end_return(Context&, double alpha, Out<double> y);
  /// Bytes that leave this rank with a vector.
  double bytes_sent() const { return 8.0 * static_cast<double>(plan_.sent.size()); }

 private:
  void exchange(Context&, Index cols, bool back);
  void reserve(Context&, Index cols);

  HaloPlan plan_;
  Array<Index> sent_;                       // of the plan, in the Context's space
  Array<Index> targets_, starts_, places_;  // what comes back: own place, where its parts lie
  Array<double> outside_, inside_;          // the halo; what of x others have
  std::vector<double> outside_here_, inside_here_;  // on the host, of a device
  Index cols_ = 0;                                  // of the exchange at hand
};

}  // namespace tcsolve
