# SPDX-License-Identifier: Apache-2.0
"""What a call costs on CuPy's arrays, beside CuPy's cg, in one run.

python bench/callers_device.py [grid], with the package installed: a 27-point Laplacian of grid^3 rows
(96). Medians, the least in brackets. The device has finished before a time is taken.
"""
import statistics
import sys
import time

import cupy as cp
import numpy as np
from cupyx.scipy.sparse import csr_matrix
from cupyx.scipy.sparse.linalg import LinearOperator, cg

import tcsolve


def stencil(n):
    """27 points, 26 on the diagonal and -1 beside it, made on the device."""
    i = cp.arange(n**3, dtype=cp.int64)
    x, y, z = i // (n * n), i // n % n, i % n
    columns, values, inside = [], [], []
    for dx in (-1, 0, 1):
        for dy in (-1, 0, 1):
            for dz in (-1, 0, 1):
                there = (0 <= x + dx) & (x + dx < n) & (0 <= y + dy) & (y + dy < n)
                inside.append(there & (0 <= z + dz) & (z + dz < n))
                columns.append(i + (dx * n + dy) * n + dz)
                values.append(cp.full(n**3, 26.0 if dx == dy == dz == 0 else -1.0))
    kept = cp.stack(inside, 1)
    indptr = cp.concatenate([cp.zeros(1, cp.int64), cp.cumsum(kept.sum(1))]).astype(cp.int32)
    indices = cp.stack(columns, 1)[kept].astype(cp.int32)
    return csr_matrix((cp.stack(values, 1)[kept], indices, indptr), shape=(n**3, n**3))


def timed(f, repeats):
    for _ in range(min(10, repeats)):
        f()
    took = []
    for _ in range(repeats):
        cp.cuda.runtime.deviceSynchronize()
        start = time.perf_counter()
        f()
        cp.cuda.runtime.deviceSynchronize()
        took.append(time.perf_counter() - start)
    return statistics.median(took), min(took)


def row(name, f, repeats):
    median, least = timed(f, repeats)
    scale, unit = (1e6, "us") if median < 1e-3 else (1e3, "ms")
    print(f"{name} | {median * scale:.1f} {unit} ({least * scale:.1f})")
    return median


def main():
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 96
    print("what | time\n---|---")
    small = tcsolve.Solver(stencil(2), method="cg")
    b8 = cp.ones(8)
    x8, _ = small.solve(b8)
    row("Solver.solve from the answer, 8 rows", lambda: small.solve(b8, x8), 1000)
    core, room = small._core.solve_at, cp.empty(8)
    where = (b8.data.ptr, 8, room.data.ptr, 8, x8.data.ptr, b8.data.device_id)
    row("  of it the compiled part, which copies the guess",
        lambda: core(*where, None, None, None, None, False, None, 1, 1), 1000)
    a, b = stencil(n), cp.ones(n**3)
    keys = {"method": "cg", "M": "jacobi"}
    row(f"solve(A, b), cg with jacobi, {n}^3, set-up and all", lambda: tcsolve.solve(a, b, **keys), 5)
    row("solve(A, b), auto", lambda: tcsolve.solve(a, b), 5)
    solver = tcsolve.Solver(a, **keys)
    infos = []
    took = row("Solver.solve", lambda: infos.append(solver.solve(b)[1]), 10)
    inside = statistics.median(info.seconds for info in infos)
    print(f"  of it outside the library's solve | {(took - inside) * 1e6:.1f} us")
    d = a.diagonal()
    M = LinearOperator(a.shape, matvec=lambda r: r / d, dtype=np.float64)
    count = []
    theirs = row("CuPy's cg with Jacobi", lambda: cg(a, b, M=M, atol=0.0, **_tolerance()), 5)
    cg(a, b, M=M, atol=0.0, callback=lambda _: count.append(1), **_tolerance())
    print(f"iterations, tcsolve's and CuPy's | {infos[-1].iterations}, {len(count)}")
    print(f"a later solve over CuPy's | {took / theirs:.2f}")
    of_jax(a, b, keys)
    f = stencil(32)
    f.data *= 1 + 0.2 * cp.sin(cp.arange(f.nnz))
    bf = cp.ones(f.shape[0])
    for M in ("jacobi", "ilu"):
        s = tcsolve.Solver(f, method="gmres", M=M)
        s.solve(bf)
        s.solve(bf, transpose=True)
        seconds = s.setup["seconds"]
        first = sum(seconds[k] for k in ("plan", "convert", "setup", "upload"))
        print(f"set-up of gmres with {M}, 32^3, nonsymmetric | {first * 1e3:.2f} ms")
        print(f"set-up of its adjoint | {seconds['transpose'] * 1e3:.2f} ms")


def of_jax(a, b, keys):
    """The same system as a custom call in jit: a set-up that is kept, new values, a gradient."""
    try:
        import jax
    except ImportError:
        return
    jax.config.update("jax_enable_x64", True)
    if jax.default_backend() != "gpu":
        return
    import jax.numpy as jnp

    import tcsolve.jax

    indptr, indices, data, rhs = (jnp.from_dlpack(x) for x in (a.indptr, a.indices, a.data, b))
    solve = jax.jit(lambda data, b: tcsolve.jax.solve(indptr, indices, data, b, **keys))
    slope = jax.jit(jax.grad(lambda data, b: (tcsolve.jax.solve(
        indptr, indices, data, b, **keys) ** 2).sum(), (0, 1)))
    turn = [data, 1.5 * data]
    row("tcsolve.jax.solve in jit", lambda: solve(data, rhs).block_until_ready(), 10)
    row("  with new values", lambda: (turn.reverse(), solve(turn[0], rhs).block_until_ready()), 10)
    row("  its gradient", lambda: jax.block_until_ready(slope(data, rhs)), 10)
    tcsolve.jax.forget()


def _tolerance():
    """CuPy has called it tol until version 14."""
    return {"rtol" if "rtol" in cg.__code__.co_varnames else "tol": 1e-8}


if __name__ == "__main__":
    main()
