// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/comm/together.hpp>

namespace tcsolve {
namespace {

template <class E>
void throw_if(std::string const& kind, std::string const& text) {
  if (kind == typeid(E).name()) throw E(text);
}

}  // namespace

std::string kind_of(std::exception const& e) { return typeid(e).name(); }

void rethrow_as(std::string const& kind, int rank, std::string const& text) {
  std::string const told = cat("rank ", rank, ": ", text);
  throw_if<ConfigError>(kind, told);
  throw_if<Unsupported>(kind, told);
  throw_if<MatrixError>(kind, told);
  throw_if<ShapeError>(kind, told);
  throw_if<SizeError>(kind, told);
  throw_if<MemoryError>(kind, told);
  throw_if<DeviceError>(kind, told);
  throw_if<BusyError>(kind, told);
  throw_if<Error>(kind, told);
  if (kind == typeid(Cancelled).name()) throw Cancelled();
  if (kind == typeid(OutOfTime).name()) throw OutOfTime();
  throw RankFailed(rank, text);
}

}  // namespace tcsolve
