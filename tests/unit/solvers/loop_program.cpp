// SPDX-License-Identifier: Apache-2.0
/// A recording becomes a list for an interpreter: which operations, with which operands, and where
/// a grid has to wait.
#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <utility>

#include <tcsolve/core/error.hpp>
#include <tcsolve/distributed/ops.hpp>
#include <tcsolve/precond/amg/ops.hpp>
#include <tcsolve/solvers/cg/ops.hpp>
#include <tcsolve/solvers/loop/program.hpp>
#include <tcsolve/solvers/minres/ops.hpp>

namespace tcsolve::test {

namespace {

template <class V>
V const& operands(Instruction const& in) {
  return *reinterpret_cast<V const*>(in.operands);
}
template <class List>
std::string name_of(int op) {
  std::string name;
  pick<List>(op, [&]<class V>() { name = V::name; });
  return name;
}

/// A product and the operations around it, on n elements; nothing is computed.
struct Recorded {
  std::int64_t n = 100;
  double v[1] = {}, sigma = 0;
  double *p = v, *q = v;
  CsrView<double> a{100, 100, 700, OffsetsView(static_cast<std::int64_t*>(nullptr)), nullptr, v};
  Context ctx{Backend::host};

  void axpby(Context& c, double const* x, double* y) {
    submit(c, Axpby<double, double>{n, 1, vector_view<double const>(x, 100, Space::host), 1,
                                    vector_view(y, 100, Space::host)});
  }
  void product(Context& c, double const* x, double* y, double* with) {
    c.submit_op(CsrMultiply<double, double>{n, 1, a, x, 0, y, with}, [](Context&) {});
  }
};

template <int k>
struct Numbered {
  static constexpr int number = k;
};
template <int... k>
OpList<Numbered<k>...> numbered(std::integer_sequence<int, k...>);

/// Whatever the length of a list, each of its numbers picks its own operation and none beyond does.
TEST(Program, PicksEachOperationOfALongList) {
  using List = decltype(numbered(std::make_integer_sequence<int, 100>()));
  for (int k = -1; k < 130; ++k) {
    int found = -1;
    pick<List>(k, [&]<class V>() { found = V::number; });
    EXPECT_EQ(found, k < List::size ? k : -1);
  }
}

TEST(Program, KeepsOperationsAndOperandsInOrder) {
  Recorded r;
  Recording body = r.ctx.record([&](Context& c) {
    r.axpby(c, r.p, r.q);
    submit(c, Dot<double>{r.n, r.p, r.q, &r.sigma});
  });
  LoopProgram loop = loop_program(body, 10, 512);
  ASSERT_TRUE(loop.why.empty()) << loop.why;
  ASSERT_EQ(loop.list.size(), 2u);
  EXPECT_EQ(name_of<LoopOps<double>>(loop.list[0].op), "axpby");
  EXPECT_EQ(name_of<LoopOps<double>>(loop.list[1].op), "dot");
  EXPECT_EQ(operands<Dot<double>>(loop.list[1]).sigma, &r.sigma);
  EXPECT_EQ(loop.n, 100);
  EXPECT_EQ(loop.matrix, -1);
  std::vector<Instruction> batch = batch_program(body).list;
  EXPECT_EQ(name_of<BatchOps>(batch[0].op), "axpby");
  EXPECT_EQ(name_of<BatchOps>(batch[1].op), "dot");
}

/// The address of a vector in the padding of a fused operation is not a pointer to the vector. (It
/// did happen: a bool beside it became true, and a matrix was read with offsets of the wrong
/// width.)
TEST(Program, KnowsPointersFromWhatLiesBetweenTheFields) {
  using Product = CsrMultiply<double, double>;
  Recorded r;
  double const* address = r.p;
  alignas(Product) std::byte bytes[sizeof(Product)];
  for (std::size_t at = 0; at < sizeof bytes; at += 8) std::memcpy(bytes + at, &address, 8);
  auto* product = reinterpret_cast<Product*>(bytes);
  product->n = 100;
  product->alpha = product->beta = 1;
  product->a.rows = product->a.cols = 100;
  product->a.entries = 700;
  product->a.offsets.wide = false;
  product->a.space = Space::host;
  LoopProgram loop = loop_program(
      r.ctx.record([&](Context& c) { c.submit_op(*product, [](Context&) {}); }), 10, 512);
  ASSERT_EQ(loop.list.size(), 1u);
  auto word = [&](auto const& field) {
    return static_cast<int>((reinterpret_cast<std::byte const*>(&field) - bytes) / 8);
  };
  std::vector<int> expected = {word(product->a.offsets.data),
                               word(product->a.columns),
                               word(product->a.values),
                               word(product->x),
                               word(product->y),
                               word(product->sigma)};
  std::vector<int> found;
  for (int k = 0; k < Instruction::max_operands / 8; ++k)
    if (loop.list[0].points(k)) found.push_back(k);
  EXPECT_EQ(found, expected);
}

TEST(Program, FindsThePointersOfAFieldOfAField) {
  Recorded r;
  Hessenberg H{};
  H.m = 10;
  H.columns = r.v;
  ArnoldiUpdate<double> update{100, {r.p, 100}, r.p, r.q, H, 1, 1, Observe{.norm2 = r.v}};
  LoopProgram loop = loop_program(r.ctx.record([&](Context& c) { submit(c, update); }), 10, 512);
  ASSERT_EQ(loop.list.size(), 1u);
  // n, V and its n, two vectors, m, sixteen arrays, two numbers, n, three pointers of Observe.
  EXPECT_EQ(loop.list[0].pointers, 0b111'0'00'1111111111111111'0'11'0'1'0u);
  // n, a number, an array with three numbers, a number, an array with three numbers.
  loop = loop_program(r.ctx.record([&](Context& c) { r.axpby(c, r.p, r.q); }), 10, 512);
  EXPECT_EQ(loop.list[0].pointers, 0b00010000100u);
}

TEST(Program, WaitsWhereAGatherMeetsAWrite) {
  Recorded r;
  auto barriers = [&](auto&& body) {
    std::string marks;
    for (Instruction const& in : loop_program(r.ctx.record(body), 10, 512).list)
      marks += in.barrier ? '|' : in.publish ? 'p' : '.';
    return marks;
  };
  // A write, a gather that is a sum as well (its exchange is a barrier), a write.
  EXPECT_EQ(barriers([&](Context& c) {
              r.axpby(c, r.q, r.p);
              r.product(c, r.p, r.q, &r.sigma);
              r.axpby(c, r.q, r.p);
            }),
            ".|.");
  // Without the sum, the write must wait until all have gathered.
  EXPECT_EQ(barriers([&](Context& c) {
              r.axpby(c, r.q, r.p);
              r.product(c, r.p, r.q, nullptr);
              r.axpby(c, r.q, r.p);
            }),
            ".||");
  // Sums alone do not wait. They end a gather, and publish nothing that is written after them.
  EXPECT_EQ(barriers([&](Context& c) {
              r.product(c, r.p, r.q, nullptr);
              submit(c, Dot<double>{r.n, r.p, r.q, &r.sigma});
              r.axpby(c, r.q, r.p);
            }),
            "|..");
  // Sums between a write and a gather are the barrier.
  EXPECT_EQ(barriers([&](Context& c) {
              r.axpby(c, r.q, r.p);
              submit(c, Dot<double>{r.n, r.p, r.q, &r.sigma});
              r.product(c, r.p, r.q, &r.sigma);
            }),
            ".p.");
  // The list goes round.
  EXPECT_EQ(barriers([&](Context& c) {
              r.axpby(c, r.q, r.p);
              r.product(c, r.p, r.q, nullptr);
            }),
            "||");
  EXPECT_EQ(barriers([&](Context& c) {
              r.product(c, r.p, r.q, nullptr);
              r.axpby(c, r.q, r.p);
              submit(c, Dot<double>{r.n, r.p, r.q, &r.sigma});
            }),
            ".|p");
}

/// Blocks that share out other rows have to see what the others did with them, and to be done.
TEST(Program, WaitsWhereElementsAreSharedOutAnew) {
  Recorded r;
  double few[1];
  auto const of = [&](Context& c, std::int64_t n, double const* x, double* y) {
    submit(c, Axpby<double, double>{n, 1, vector_view<double const>(x, n, Space::host), 1,
                                    vector_view(y, n, Space::host)});
  };
  auto const marks = [&](auto&& body) {
    std::string all;
    for (Instruction const& in : loop_program(r.ctx.record(body), 2, 512).list)
      all += in.barrier ? '|' : in.publish ? 'p' : '.';
    return all;
  };
  EXPECT_EQ(marks([&](Context& c) {
              of(c, 100, r.p, r.q);
              of(c, 100, r.q, r.p);
              of(c, 40, few, few);
              of(c, 40, few, few);
            }),
            "|.|.");
  // Sums are a meeting, and show what was written where others go on with it.
  EXPECT_EQ(marks([&](Context& c) {
              of(c, 100, r.p, r.q);
              submit(c, Dot<double>{100, r.p, r.q, &r.sigma});
              of(c, 40, few, few);
            }),
            "|p.");
  LoopProgram const loop = loop_program(r.ctx.record([&](Context& c) {
    of(c, 100, r.p, r.q);
    of(c, 40, few, few);
  }),
                                        2, 512);
  EXPECT_EQ(loop.n, 100);
  EXPECT_EQ(loop.list[0].begin(1), 64) << "whole warps";
  EXPECT_EQ(loop.list[0].end(1), 100);
  EXPECT_EQ(loop.list[1].end(0), 32);
  EXPECT_EQ(loop.list[1].end(1), 40);
  EXPECT_EQ(loop.list[1].begin(2), 40) << "nothing is left";
}

/// A step that writes what nobody gathers need not wait until all have gathered.
TEST(Program, DoesNotWaitForOtherVectors) {
  Recorded r;
  double d[1], next[1], x[1], residual[1];
  auto const view = [](double* v) { return vector_view(v, 100, Space::host); };
  auto const marks = [&](double* to) {
    std::string all;
    for (Instruction const& in :
         loop_program(r.ctx.record([&](Context& c) {
           r.product(c, d, residual, nullptr);
           submit(c, SmoothingStep<double>{r.n, 0, 1, r.v, In<double>(view(residual)),
                                           In<double>(view(d)), view(to), view(x), StepFrom::x});
           r.product(c, next, residual, nullptr);
         }),
                      10, 512)
             .list)
      all += in.barrier ? '|' : '.';
    return all;
  };
  EXPECT_EQ(marks(next), "|.|");
  EXPECT_EQ(marks(d), "|||");
}

/// Where every operation has several elements on their way, the memory is used as by many blocks.
TEST(Program, IsOneKernelAsFarAsItsOperationsLoadAhead) {
  Recorded r;
  CgScalars k{};
  auto const share = [&](auto&& body) { return cache_share(r.ctx.record(body)); };
  auto const direction = [&](Context& c) {
    submit(c, UpdateDirection<double>{r.n, &k, {}, r.v, r.p, r.q});
  };
  EXPECT_EQ(share(direction), std::numeric_limits<double>::infinity());
  EXPECT_EQ(share([&](Context& c) {
              direction(c);
              r.product(c, r.p, r.q, nullptr);
            }),
            2);
  EXPECT_EQ(share([&](Context& c) {
              direction(c);
              r.axpby(c, r.q, r.p);
            }),
            2);
}

/// A product over ranks of devices, recorded by hand: what is sent, the rows of this rank, the rows
/// with entries of others. Their sum is one exchange, and what they add to y is seen by whoever has
/// the row.
TEST(Program, KeepsTheSumOfOneRankInTheBlocks) {
  Recorded r;
  Index places[4] = {};
  double own = 0;
  OuterRows outer{{3, 4, 9, OffsetsView(static_cast<std::int64_t*>(nullptr)), nullptr, r.v},
                  places,
                  0,
                  r.v,
                  places,
                  100};
  double p[1], q[1];
  auto const recorded = [&](bool dots, bool alone = true) {
    Recording body = r.ctx.record([&](Context& c) {
      r.axpby(c, r.v, p);
      submit(c, SendRows<double>{4, places, vector_view<double const>(p, 100, Space::host), {}});
      r.product(c, p, q, dots ? &own : nullptr);
      if (dots)
        submit(c, AddOuterRowsDot{4, 1, outer, {}, p, q, &own, &r.sigma});
      else
        submit(c, AddOuterRows<double>{3, 1, outer, {}, vector_view(q, 100, Space::host)});
      r.axpby(c, q, r.v);
      r.product(c, r.v, q, nullptr);
    });
    body.commands[2].alone = alone;
    return body;
  };
  auto const marks = [](LoopProgram const& loop) {
    std::string all;
    for (Instruction const& in : loop.list)
      all += cat(in.barrier ? "|" : "", in.alone ? "a" : "", in.publish ? "p" : ".");
    return all;
  };
  LoopProgram const loop = loop_program(recorded(true), 10, 512);
  ASSERT_EQ(loop.why, "");
  EXPECT_EQ(loop.n, 100) << "not what is sent, nor the rows with entries of others";
  EXPECT_EQ(marks(loop), "|.|.a.p.|.") << "nobody waits between the rank's rows and the others'";
  EXPECT_EQ(loop.gathered, (std::vector<void const*>{p, p, r.v})) << "y stays with its blocks";
  // Without a sum the last operation of the product ends with a barrier of its own.
  EXPECT_EQ(marks(loop_program(recorded(false), 10, 512)), "|.|....|.");
  // Without parts, of which a block may have too many, they wait before they write there.
  outer.parts = nullptr;
  EXPECT_EQ(marks(loop_program(recorded(true), 10, 512)), "|.|.a.|p.|.");
  EXPECT_EQ(marks(loop_program(recorded(false), 10, 512)), "|.|..|..|.");
  outer.parts = r.v;

  EXPECT_NE(loop_program(recorded(true, false), 10, 512).why, "") << "nothing is held";
  Recording body = recorded(true);
  body.commands.erase(body.commands.begin() + 3);
  EXPECT_NE(loop_program(body, 10, 512).why, "") << "nobody takes it up";
  body.commands.push_back(
      r.ctx.record([&](Context& c) {
             submit(c, Dot<double>{r.n, p, q, &r.sigma});
           })
          .commands.front());
  EXPECT_NE(loop_program(body, 10, 512).why, "") << "held when another sum is made";
}

// y = A z, z = D x: the product reads x through D, where nobody else wants z.
TEST(Program, FoldsADiagonalIntoTheProductThatGathersIt) {
  Recorded r;
  double x[1], z[1], y[1], d[1];
  auto scaling = [&](Context& c, double beta = 0) {
    submit(c, Multiply<double>{r.n, 3, d, vector_view<double const>(x, 100, Space::host), beta,
                               vector_view(z, 100, Space::host)});
  };
  auto const names = [&](auto&& body, std::vector<void*> own) {
    std::string all;
    for (Instruction const& in : loop_program(r.ctx.record(body), 10, 512, own).list)
      all += cat(name_of<LoopOps<double>>(in.op), in.through.d != nullptr ? " through " : " ");
    return all;
  };
  auto const plain = [&](Context& c) {
    scaling(c);
    r.product(c, z, y, nullptr);
    submit(c, Dot<double>{r.n, y, y, &r.sigma});
  };
  EXPECT_EQ(names(plain, {z}), "csr_multiply through dot ");
  LoopProgram const loop = loop_program(r.ctx.record(plain), 10, 512, std::vector<void*>{z});
  EXPECT_EQ(loop.list[0].through.d, d);
  EXPECT_EQ(loop.list[0].through.alpha, 3);
  EXPECT_EQ((operands<CsrMultiply<double, double>>(loop.list[0]).x), x);
  EXPECT_EQ(loop.gathered, std::vector<void const*>{x});

  EXPECT_EQ(names(plain, {}), "multiply csr_multiply dot ") << "z is somebody else's";
  EXPECT_EQ(names(plain, {x}), "multiply csr_multiply dot ");
  EXPECT_EQ(names(
                [&](Context& c) {
                  scaling(c, 1);
                  r.product(c, z, y, nullptr);
                },
                {z}),
            "multiply csr_multiply ")
      << "z is read";
  EXPECT_EQ(names(
                [&](Context& c) {
                  scaling(c);
                  r.product(c, z, y, nullptr);
                  submit(c, Dot<double>{r.n, z, y, &r.sigma});
                },
                {z}),
            "multiply csr_multiply dot ")
      << "z is read later";
  EXPECT_EQ(names(
                [&](Context& c) {
                  scaling(c);
                  r.product(c, z, y, &r.sigma);
                },
                {z}),
            "multiply csr_multiply ")
      << "the product's sum reads z";
  EXPECT_EQ(names(
                [&](Context& c) {
                  scaling(c);
                  r.product(c, x, y, nullptr);
                },
                {z}),
            "multiply csr_multiply ")
      << "another vector";
  EXPECT_EQ(names(
                [&](Context& c) {
                  scaling(c);
                  r.product(c, z, x, nullptr);
                },
                {z}),
            "multiply csr_multiply ")
      << "the product would write what others gather";
}

TEST(Program, SharesARowAmongAsManyThreadsAsItUses) {
  EXPECT_EQ(lanes_for(1, 1, 1, 512), 1);
  EXPECT_EQ(lanes_for(1000, 7000, 1, 512), 2);      // enough rows for every thread
  EXPECT_EQ(lanes_for(16, 16 * 1000, 1, 512), 32);  // few and long
  EXPECT_EQ(lanes_for(132 * 64, 132 * 64 * 27, 132, 512), 8);
  EXPECT_EQ(lanes_for(100, 700, 1, 512), 8);  // few and short
  EXPECT_EQ(lanes_for(0, 0, 132, 512), 1);
}

TEST(Program, RefusesWhatItHasNoOperationFor) {
  Recorded r;
  Recording minres = r.ctx.record([&](Context& c) {
    submit(c, MinresStart<double>{1, nullptr, 0, r.v, r.v});
  });
  EXPECT_EQ(loop_program(minres, 10, 512).why, MinresStart<double>::name);
  EXPECT_THROW(batch_program(minres), Unsupported);
  Recording opaque = r.ctx.record([&](Context& c) { c.submit("user", [](Context&) {}); });
  EXPECT_EQ(loop_program(opaque, 10, 512).why, "user");
  Recording narrow = r.ctx.record([&](Context& c) {  // values of 16 bits: a graph's, or eager
    c.submit_op(CsrMultiply<bfloat16, double>{r.n, 1, {}, r.p, 0, r.q, nullptr}, [](Context&) {});
  });
  EXPECT_EQ((loop_program(narrow, 10, 512).why), (CsrMultiply<bfloat16, double>::name));
  Recording wide = r.ctx.record([&](Context& c) {
    Hessenberg H{};
    H.m = 64;
    gram(c, Gram<double>{100, {r.p, 100}, r.p, r.q, H, 0, 0, r.v});
  });
  EXPECT_FALSE(loop_program(wide, 10, 512).why.empty());
  EXPECT_THROW(batch_program(wide), Unsupported);
}

}  // namespace

}  // namespace tcsolve::test
