// SPDX-License-Identifier: Apache-2.0
#include <tcsolve/distributed/halo.hpp>

#include <algorithm>
#include <numeric>
#include <utility>

#include <tcsolve/distributed/ops.hpp>

namespace tcsolve {

Halo::Halo(Context& ctx, HaloPlan const& plan) : plan_(plan) {
  // An own place may go to several neighbours, in whose order their parts are added; each of them
  // has its places ascending.
  std::vector<Index> places(plan_.sent.size());
  std::iota(places.begin(), places.end(), 0);
  auto const target = [&](Index k) { return plan_.sent[static_cast<std::size_t>(k)]; };
  for (HaloPlan::Neighbour const& n : plan_.neighbours) {
    auto const middle = places.begin() + n.first_sent;
    std::inplace_merge(places.begin(), middle, middle + n.sent_count,
                       [&](Index k, Index l) { return target(k) < target(l); });
  }
  std::vector<Index> targets, starts;
  targets.reserve(places.size()), starts.reserve(places.size() + 1);
  for (std::size_t k = 0; k < places.size(); ++k)
    if (k == 0 || target(places[k]) != targets.back()) {
      targets.push_back(target(places[k]));
      starts.push_back(static_cast<Index>(k));
    }
  starts.push_back(static_cast<Index>(places.size()));
  PackedLists lists((4 * places.size() + 1) * sizeof(Index));
  std::size_t const sent_at = lists.add(plan_.sent), targets_at = lists.add(targets),
                    starts_at = lists.add(starts), places_at = lists.add(places);
  lists_ = to_space(ctx, lists.bytes().data(), lists.bytes().size());
  sent_ = list_at<Index>(std::as_const(lists_), sent_at);
  targets_ = list_at<Index>(std::as_const(lists_), targets_at);
  starts_ = list_at<Index>(std::as_const(lists_), starts_at);
  places_ = list_at<Index>(std::as_const(lists_), places_at);
  target_count_ = static_cast<std::int64_t>(targets.size());
  room(ctx, 1);
}

Halo::Room& Halo::room(Context& ctx, Index cols) {
  auto const [at, is_new] = rooms_.try_emplace(cols);
  Room& room = at->second;
  if (!is_new) return room;
  auto const width = static_cast<std::size_t>(cols);
  // One at least: where what has come has no address it comes from a peer (Arrived).
  auto const values = [&](std::size_t rows) {
    return Array<double>(ctx.space(), std::max<std::size_t>(1, rows * width));
  };
  room.outside = values(static_cast<std::size_t>(plan_.halo()));
  if (ctx.communicator().extends_sums() && ctx.device() != nullptr)
    ctx.visit([&]<class On>(On& on) {
      if constexpr (OnDevice<On>) {
        capturable_ = sums_in_graphs(on);
        if (transport(on) != DeviceTransport::peer) return;
        room.peers = make_peer_halo(on, ctx.communicator(), plan_, cols);
        for (bool const back : {false, true}) room.ways[back] = way_of(on, *room.peers, back);
      }
    });
  if (!room.peers) room.inside = values(plan_.sent.size());
  return room;
}

/// Messages, from inside to outside, or back.
void Halo::begin_messages(Context& ctx, Room& room, Index cols, bool back) {
  std::vector<Ranks::Outgoing> out;
  std::vector<Ranks::Incoming> in;
  auto const bytes = [&](Index count) {
    return static_cast<std::size_t>(count) * static_cast<std::size_t>(cols) * sizeof(double);
  };
  for (HaloPlan::Neighbour const& n : plan_.neighbours) {
    double* const theirs = room.outside.data() + std::int64_t{n.first} * cols;
    double* const ours = room.inside.data() + std::int64_t{n.first_sent} * cols;
    if (back) {
      out.push_back({n.rank, theirs, bytes(n.count)});
      in.push_back({n.rank, ours, bytes(n.sent_count)});
    } else {
      out.push_back({n.rank, ours, bytes(n.sent_count)});
      in.push_back({n.rank, theirs, bytes(n.count)});
    }
  }
  if (plan_.neighbours.empty()) return;
  ctx.visit([&]<class On>(On& on) {
    if constexpr (OnDevice<On>)
      begin_exchange(on, out, in);
    else
      on.ranks->begin_exchange(out, in);
  });
}
void Halo::end_messages(Context& ctx) {
  if (plan_.neighbours.empty()) return;
  ctx.visit([]<class On>(On& on) {
    if constexpr (OnDevice<On>)
      end_exchange(on);
    else
      on.ranks->end_exchange();
  });
}

template <class T>
void Halo::begin(Context& ctx, In<T> x) {
  Room& to = *(open_ = &room(ctx, x.cols));
  auto const n = static_cast<std::int64_t>(plan_.sent.size()) * x.cols;
  if (to.peers) return submit(ctx, SendRows<T>{n, sent_, x, to.ways[false].out});
  submit(ctx, PackRows<T>{n, sent_, x, to.inside.data()});
  begin_messages(ctx, to, x.cols, false);
}
template void Halo::begin(Context&, In<double>);
template void Halo::begin(Context&, In<float>);

template <class Op>
void Halo::arrive(Context& ctx, Op op, bool back) {
  if (open_->peers) {
    op.h = {nullptr, open_->ways[back].in};
  } else {
    end_messages(ctx);
    op.h = {back ? open_->inside.data() : open_->outside.data(), {}};
  }
  submit(ctx, op);
}
template void Halo::arrive(Context&, AddOuterRows<double>, bool);
template void Halo::arrive(Context&, AddOuterRows<float>, bool);
template void Halo::arrive(Context&, AddOuterRowsDot, bool);
template void Halo::arrive(Context&, OuterResidual, bool);
template void Halo::arrive(Context&, KeepHalo, bool);

double* Halo::place(Context& ctx, Index cols) { return room(ctx, cols).outside.data(); }

void Halo::begin_return(Context& ctx, Index cols) {
  Room& of = *(open_ = &room(ctx, cols));
  if (!of.peers) return begin_messages(ctx, of, cols, true);
  Out<double> const halo{of.outside.data(), plan_.halo(), cols, cols,
                         Layout::row_major, ctx.space()};
  submit(ctx, SendRows<double>{halo.size(), nullptr, In<double>(halo), of.ways[true].out});
}

template <class T>
void Halo::end_return(Context& ctx, double alpha, Out<T> y) {
  auto const n = target_count_ * y.cols;
  arrive(ctx, AddReturned<T>{n, alpha, targets_, starts_, places_, {}, y}, true);
}
template void Halo::end_return(Context&, double, Out<double>);
template void Halo::end_return(Context&, double, Out<float>);

}  // namespace tcsolve
