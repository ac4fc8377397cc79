// SPDX-License-Identifier: Apache-2.0
/// The device half of the kernels in a build without CUDA: it links, and says what is missing.
#include <tcsolve/kernels/batch.hpp>
#include <tcsolve/kernels/bsell.hpp>
#include <tcsolve/kernels/csell.hpp>
#include <tcsolve/kernels/dasp.hpp>
#include <tcsolve/kernels/dia.hpp>
#include <tcsolve/kernels/graph.hpp>
#include <tcsolve/kernels/narrow.hpp>
#include <tcsolve/kernels/norm_inf.hpp>
#include <tcsolve/kernels/persistent.hpp>
#include <tcsolve/kernels/renumber.hpp>
#include <tcsolve/kernels/sell.hpp>
#include <tcsolve/kernels/spaden.hpp>
#include <tcsolve/kernels/spmm_csr.hpp>
#include <tcsolve/kernels/survey.hpp>
#include <tcsolve/kernels/value_pairs.hpp>
#include <tcsolve/kernels/verb_list.hpp>

namespace tcsolve::cuda {

namespace {
[[noreturn]] void absent() { throw NotBuilt("cuda"); }
}  // namespace

template <class V>
void sweep(Device&, LoopState*, V const&) {
  absent();
}
#define TCSOLVE_INSTANTIATE_SWEEP(V) template void sweep<V>(Device&, LoopState*, V const&);
TCSOLVE_VERBS(TCSOLVE_INSTANTIATE_SWEEP)

template <>
void sweep(Device&, LoopState*, ArnoldiUpdate<double> const&) {
  absent();
}
template <>
void sweep(Device&, LoopState*, ArnoldiUpdate<float> const&) {
  absent();
}
#define TCSOLVE_SPECIALISE(S, T)                                 \
  template <>                                                    \
  void sweep(Device&, LoopState*, DiaMultiply<S, T> const&) {    \
    absent();                                                    \
  }                                                              \
  template <>                                                    \
  void sweep(Device&, LoopState*, DiaMultiplyDot<S, T> const&) { \
    absent();                                                    \
  }
TCSOLVE_VALUE_PAIRS(TCSOLVE_SPECIALISE)
#undef TCSOLVE_SPECIALISE
int gram_blocks(Device&) { absent(); }
template <class T>
void gram(Device&, LoopState*, Gram<T> const&) {
  absent();
}
template void gram<double>(Device&, LoopState*, Gram<double> const&);
template void gram<float>(Device&, LoopState*, Gram<float> const&);

template <class S>
Index count_diagonals(Device&, Arena&, CsrView<S> const&) {
  absent();
}
template <class S>
SellArrays<S> build_sell(Device&, Arena&, CsrView<S> const&) {
  absent();
}
template <class S>
void refill_sell(Device&, Arena&, CsrView<S> const&, SellArrays<S>&) {
  absent();
}
#define TCSOLVE_INSTANTIATE(S)                                              \
  template SellArrays<S> build_sell<S>(Device&, Arena&, CsrView<S> const&); \
  template void refill_sell<S>(Device&, Arena&, CsrView<S> const&, SellArrays<S>&);
TCSOLVE_VALUES(TCSOLVE_INSTANTIATE)
#undef TCSOLVE_INSTANTIATE

template <class S>
DiaArrays<S> build_dia(Device&, Arena&, CsrView<S> const&, DiaTuning const&) {
  absent();
}
template <class S>
void refill_dia(Device&, Arena&, CsrView<S> const&, DiaArrays<S>&) {
  absent();
}
#define TCSOLVE_INSTANTIATE(S)                                                              \
  template Index count_diagonals<S>(Device&, Arena&, CsrView<S> const&);                    \
  template DiaArrays<S> build_dia<S>(Device&, Arena&, CsrView<S> const&, DiaTuning const&); \
  template void refill_dia<S>(Device&, Arena&, CsrView<S> const&, DiaArrays<S>&);
TCSOLVE_VALUES(TCSOLVE_INSTANTIATE)
#undef TCSOLVE_INSTANTIATE

template <class S>
void norm_inf(Device&, Arena&, CsrView<S> const&, double*) {
  absent();
}
template void norm_inf<double>(Device&, Arena&, CsrView<double> const&, double*);
template void norm_inf<float>(Device&, Arena&, CsrView<float> const&, double*);
template void norm_inf<half>(Device&, Arena&, CsrView<half> const&, double*);
template void norm_inf<bfloat16>(Device&, Arena&, CsrView<bfloat16> const&, double*);

template <class T>
std::shared_ptr<CsrPlan> plan_csr(Device&, CsrView<T> const&, bool) {
  absent();
}
template <class T>
void spmm_csr(Device&, CsrPlan&, T, In<T>, T, Out<T>) {
  absent();
}
template <class S, class T>
void spmm_csr(Device&, T, CsrView<S> const&, In<T>, T, Out<T>) {
  absent();
}
template std::shared_ptr<CsrPlan> plan_csr<double>(Device&, CsrView<double> const&, bool);
template std::shared_ptr<CsrPlan> plan_csr<float>(Device&, CsrView<float> const&, bool);
template void spmm_csr<double>(Device&, CsrPlan&, double, In<double>, double, Out<double>);
template void spmm_csr<float>(Device&, CsrPlan&, float, In<float>, float, Out<float>);
#define TCSOLVE_INSTANTIATE(S, T) \
  template void spmm_csr<S, T>(Device&, T, CsrView<S> const&, In<T>, T, Out<T>);
TCSOLVE_VALUE_PAIRS(TCSOLVE_INSTANTIATE)

RowCounts count_rows(Device&, Arena&, PatternView const&) { absent(); }
TileCounts count_tiles(Device&, Arena&, PatternView const&) { absent(); }
template <class S>
bool mirrored(Device&, Arena&, CsrView<S> const&) {
  absent();
}
#undef TCSOLVE_INSTANTIATE
#define TCSOLVE_INSTANTIATE(S) template bool mirrored<S>(Device&, Arena&, CsrView<S> const&);
TCSOLVE_VALUES(TCSOLVE_INSTANTIATE)

template <class S, class T>
NarrowArrays<S> narrow_values(Device&, Arena&, CsrView<T> const&, Beyond) {
  absent();
}
template <class T>
UndoneExponents<T> undo_exponents(Device&, Arena&, std::int32_t const*, std::size_t) {
  absent();
}
template <class S>
double unscaled_norm(Device&, Arena&, CsrView<S> const&, std::int32_t const*, std::int32_t const*) {
  absent();
}
#define TCSOLVE_NARROW(S, T) \
  template NarrowArrays<S> narrow_values<S, T>(Device&, Arena&, CsrView<T> const&, Beyond);
TCSOLVE_NARROWER(TCSOLVE_NARROW)
#define TCSOLVE_UNDO(T) \
  template UndoneExponents<T> undo_exponents<T>(Device&, Arena&, std::int32_t const*, std::size_t);
TCSOLVE_UNDO(double)
TCSOLVE_UNDO(float)
#define TCSOLVE_NORM(S)                                                                     \
  template double unscaled_norm<S>(Device&, Arena&, CsrView<S> const&, std::int32_t const*, \
                                   std::int32_t const*);
TCSOLVE_NORM(double)
TCSOLVE_NORM(float)
TCSOLVE_NORM(half)
TCSOLVE_NORM(bfloat16)

std::shared_ptr<WhileGraph> record_while(Context&, Recording const&, LoopState*, int,
                                         std::string&) {
  absent();
}
template <class S>
DaspArrays<S> build_dasp(Device&, Arena&, CsrView<S> const&, DaspTuning const&) {
  absent();
}
template <class S>
void refill_dasp(Device&, Arena&, CsrView<S> const&, DaspArrays<S>&) {
  absent();
}
template <class S, class T>
void spmm_dasp(Device&, T, DaspView<S> const&, DaspWork<T> const&, In<T>, T, Out<T>) {
  absent();
}
#undef TCSOLVE_INSTANTIATE
#define TCSOLVE_INSTANTIATE(S)                                                                 \
  template DaspArrays<S> build_dasp<S>(Device&, Arena&, CsrView<S> const&, DaspTuning const&); \
  template void refill_dasp<S>(Device&, Arena&, CsrView<S> const&, DaspArrays<S>&);
TCSOLVE_VALUES(TCSOLVE_INSTANTIATE)
#undef TCSOLVE_INSTANTIATE
#define TCSOLVE_INSTANTIATE(S, T)                                                             \
  template void spmm_dasp<S, T>(Device&, T, DaspView<S> const&, DaspWork<T> const&, In<T>, T, \
                                Out<T>);
TCSOLVE_VALUE_PAIRS(TCSOLVE_INSTANTIATE)

template <class S>
CsellArrays<S> build_csell(Device&, Arena&, CsrView<S> const&, CsellTuning const&) {
  absent();
}
template <class S>
void refill_csell(Device&, Arena&, CsrView<S> const&, CsellArrays<S>&) {
  absent();
}
template <class S, class T>
void spmm_csell(Device&, CsellProduct<S, T> const&) {
  absent();
}
template <class S, class T>
void spmv_dot_csell(Device&, CsellProduct<S, T> const&, double*) {
  absent();
}
#undef TCSOLVE_INSTANTIATE
#define TCSOLVE_INSTANTIATE(S)                                                                    \
  template CsellArrays<S> build_csell<S>(Device&, Arena&, CsrView<S> const&, CsellTuning const&); \
  template void refill_csell<S>(Device&, Arena&, CsrView<S> const&, CsellArrays<S>&);
TCSOLVE_VALUES(TCSOLVE_INSTANTIATE)

#undef TCSOLVE_INSTANTIATE
#define TCSOLVE_INSTANTIATE(S, T)                                     \
  template void spmm_csell<S, T>(Device&, CsellProduct<S, T> const&); \
  template void spmv_dot_csell<S, T>(Device&, CsellProduct<S, T> const&, double*);
TCSOLVE_VALUE_PAIRS(TCSOLVE_INSTANTIATE)

template <class S>
BsellCounts count_blocks(Device&, Arena&, CsrView<S> const&) {
  absent();
}
template <class S>
BsellArrays<S> build_bsell(Device&, Arena&, CsrView<S> const&, BsellTuning const&) {
  absent();
}
template <class S>
void refill_bsell(Device&, Arena&, CsrView<S> const&, BsellArrays<S>&) {
  absent();
}
template <class S, class T>
void spmm_bsell(Device&, BsellProduct<S, T> const&) {
  absent();
}
template <class S, class T>
void spmv_dot_bsell(Device&, BsellProduct<S, T> const&, double*) {
  absent();
}
#undef TCSOLVE_INSTANTIATE
#define TCSOLVE_INSTANTIATE(S)                                                                    \
  template BsellCounts count_blocks<S>(Device&, Arena&, CsrView<S> const&);                       \
  template BsellArrays<S> build_bsell<S>(Device&, Arena&, CsrView<S> const&, BsellTuning const&); \
  template void refill_bsell<S>(Device&, Arena&, CsrView<S> const&, BsellArrays<S>&);
TCSOLVE_VALUES(TCSOLVE_INSTANTIATE)
#undef TCSOLVE_INSTANTIATE
#define TCSOLVE_INSTANTIATE(S, T)                                     \
  template void spmm_bsell<S, T>(Device&, BsellProduct<S, T> const&); \
  template void spmv_dot_bsell<S, T>(Device&, BsellProduct<S, T> const&, double*);
TCSOLVE_VALUE_PAIRS(TCSOLVE_INSTANTIATE)

template <class S>
SpadenArrays<S> build_spaden(Device&, Arena&, CsrView<S> const&, SpadenTuning const&) {
  absent();
}
template <class S>
void refill_spaden(Device&, Arena&, CsrView<S> const&, SpadenArrays<S>&) {
  absent();
}
template <class S, class T>
void spmm_spaden(Device&, T, SpadenView<S> const&, SpadenWork<T> const&, In<T>, T, Out<T>) {
  absent();
}
#undef TCSOLVE_INSTANTIATE
#define TCSOLVE_INSTANTIATE(S)                                                 \
  template SpadenArrays<S> build_spaden<S>(Device&, Arena&, CsrView<S> const&, \
                                           SpadenTuning const&);               \
  template void refill_spaden<S>(Device&, Arena&, CsrView<S> const&, SpadenArrays<S>&);
TCSOLVE_VALUES(TCSOLVE_INSTANTIATE)
#undef TCSOLVE_INSTANTIATE
#define TCSOLVE_INSTANTIATE(S, T)                                                                \
  template void spmm_spaden<S, T>(Device&, T, SpadenView<S> const&, SpadenWork<T> const&, In<T>, \
                                  T, Out<T>);
TCSOLVE_VALUE_PAIRS(TCSOLVE_INSTANTIATE)

bool cuthill_mckee(Device&, Arena&, PatternView const&, CuthillMckeeLimits const&, Index*) {
  absent();
}
template <class S>
CsrArrays<S> permute(Device&, Arena&, CsrView<S> const&, Index const*, Index const*) {
  absent();
}
LocalitySums measure_locality(Device&, Arena&, PatternView const&) { absent(); }
template CsrArrays<double> permute<double>(Device&, Arena&, CsrView<double> const&, Index const*,
                                           Index const*);

void launch(Device&, WhileGraph&) { absent(); }
bool finished(Device&) { absent(); }
std::shared_ptr<PersistentLoop> make_persistent(Device&, Recording const&, LoopState*,
                                                KeptOperands const&, std::string&) {
  absent();
}
bool launch(Device&, PersistentLoop&, std::string&) { absent(); }
std::shared_ptr<BatchKernel> make_batch(Device&, BatchProgram const&, BatchExtents const&) {
  absent();
}
void launch(Device&, BatchKernel&) { absent(); }
SystemState const* results(BatchKernel&) { absent(); }
void ask(Device&, BatchKernel&, std::int32_t) { absent(); }
int resident(BatchKernel&) { absent(); }

}  // namespace tcsolve::cuda
