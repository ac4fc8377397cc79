// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/distributed/halo.hpp>

#include <algorithm>
#include <map>
#include <utility>

#include <tcsolve/distributed/ops.hpp>

namespace tcsolve {

Halo::Halo(Context& ctx, HaloPlan const& plan) : plan_(plan) {
  sent_ = to_space(ctx, plan_.sent.data(), plan_.sent.size());
  // An own place may go to several neighbours; `sent` has them by rank.
  std::map<Index, std::vector<Index>> returns;
  for (std::size_t k = 0; k < plan_.sent.size(); ++k)
    returns[plan_.sent[k]].push_back(static_cast<Index>(k));
  std::vector<Index> targets, starts{0}, places;
  for (auto const& [target, from] : returns) {
    targets.push_back(target);
    places.insert(places.end(), from.begin(), from.end());
    starts.push_back(static_cast<Index>(places.size()));
  }
  targets_ = to_space(ctx, targets.data(), targets.size());
  starts_ = to_space(ctx, starts.data(), starts.size());
  places_ = to_space(ctx, places.data(), places.size());
  reserve(ctx, 1);
}

void Halo::reserve(Context& ctx, Index cols) {
  cols_ = cols;
  std::size_t const outside = static_cast<std::size_t>(plan_.halo()) * cols,
                    inside = plan_.sent.size() * cols;
  if (outside_.size() < outside) outside_ = Array<double>(ctx.space(), outside);
  if (inside_.size() < inside) inside_ = Array<double>(ctx.space(), inside);
  if (ctx.space() == Space::host) return;
  outside_here_.resize(std::max(outside_here_.size(), outside));
  inside_here_.resize(std::max(inside_here_.size(), inside));
}

/// Begins: from inside to outside, or back.
void Halo::exchange(Context& ctx, Index cols, bool back) {
  bool const here = ctx.space() == Space::host;
  double* const outside = here ? outside_.data() : outside_here_.data();
  double* const inside = here ? inside_.data() : inside_here_.data();
  if (!here) {
    Array<double> const& from = back ? outside_ : inside_;
    std::size_t const size = (back ? static_cast<std::size_t>(plan_.halo()) : plan_.sent.size()) *
                             static_cast<std::size_t>(cols);
    copy_bytes(ctx, back ? outside : inside, Space::host, from.data(), ctx.space(),
               size * sizeof(double));
  }
  std::vector<Ranks::Outgoing> out;
  std::vector<Ranks::Incoming> in;
  auto const bytes = [&](Index count) {
    return static_cast<std::size_t>(count) * static_cast<std::size_t>(cols) * sizeof(double);
  };
  for (HaloPlan::Neighbour const& n : plan_.neighbours) {
    double* const theirs = outside + std::int64_t{n.first} * cols;
    double* const ours = inside + std::int64_t{n.first_sent} * cols;
    if (back) {
      out.push_back({n.rank, theirs, bytes(n.count)});
      in.push_back({n.rank, ours, bytes(n.sent_count)});
    } else {
      out.push_back({n.rank, ours, bytes(n.sent_count)});
      in.push_back({n.rank, theirs, bytes(n.count)});
    }
  }
  if (!plan_.neighbours.empty()) all_ranks(ctx).begin_exchange(out, in);
}

void Halo::begin(Context& ctx, In<double> x) {
  reserve(ctx, x.cols);
  auto const n = static_cast<std::int64_t>(plan_.sent.size()) * x.cols;
  submit(ctx, PackRows{n, sent_.data(), x, inside_.data()});
  exchange(ctx, x.cols, false);
}

double const* Halo::end(Context& ctx) {
  if (!plan_.neighbours.empty()) all_ranks(ctx).end_exchange();
  if (ctx.space() != Space::host)
    copy_bytes(
        ctx, outside_.data(), ctx.space(), outside_here_.data(), Space::host,
        static_cast<std::size_t>(plan_.halo()) * static_cast<std::size_t>(cols_) * sizeof(double));
  return outside_.data();
}

double* Halo::place(Context& ctx, Index cols) {
  reserve(ctx, cols);
  return outside_.data();
}

void Halo::begin_return(Context& ctx, Index cols) { exchange(ctx, cols, true); }

void Halo::end_return(Context& ctx, double alpha, Out<double> y) {
  if (!plan_.neighbours.empty()) all_ranks(ctx).end_exchange();
  if (ctx.space() != Space::host)
    copy_bytes(ctx, inside_.data(), ctx.space(), inside_here_.data(), Space::host,
               plan_.sent.size() * static_cast<std::size_t>(cols_) * sizeof(double));
  auto const n = static_cast<std::int64_t>(targets_.size()) * y.cols;
  submit(ctx,
         AddReturned{n, alpha, targets_.data(), starts_.data(), places_.data(), inside_.data(), y});
}

}  // namespace tcsolve
