# SPDX-License-Identifier: Apache-2.0
"""What a call from Python costs, beside SciPy's cg: the table of docs/results/callers-host.md.

OMP_NUM_THREADS=1 python bench/callers.py, with the package installed. Medians, the least in brackets.
"""
import importlib
import os
import statistics
import subprocess
import sys
import time

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as sla

import tcsolve


def grid(n, points):
    one = sp.eye_array(n)
    if points == 7:
        line = sp.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(n, n))
        a = sp.kron(sp.kron(line, one), one) + sp.kron(sp.kron(one, line), one)
        a = a + sp.kron(sp.kron(one, one), line)
    else:
        line = sp.diags_array([1.0, 1.0, 1.0], offsets=[-1, 0, 1], shape=(n, n))
        a = -sp.csr_array(sp.kron(sp.kron(line, line), line))
        a.setdiag(26.0)
    a = sp.csr_array(a)
    a.sum_duplicates()
    a.indptr, a.indices = a.indptr.astype(np.int32), a.indices.astype(np.int32)
    return a


def timed(f, repeats):
    for _ in range(min(20, repeats)):
        f()
    took = []
    for _ in range(repeats):
        start = time.perf_counter()
        f()
        took.append(time.perf_counter() - start)
    return statistics.median(took), min(took)


def row(name, f, repeats=1000):
    median, least = timed(f, repeats)
    scale, unit = (1e6, "us") if median < 1e-3 else (1e3, "ms")
    print(f"{name} | {median * scale:.1f} {unit} ({least * scale:.1f})")


def main():
    np.random.seed(0)
    keywords = {"device": "cpu", "threads": 1}
    code = "import numpy, time; t = time.perf_counter(); import tcsolve; print(time.perf_counter() - t)"
    imports = [float(subprocess.check_output([sys.executable, "-c", code])) for _ in range(9)]
    print("what | time\n---|---")
    print(f"import tcsolve, after numpy | {statistics.median(imports) * 1e3:.1f} ms ({min(imports) * 1e3:.1f})")
    a, b = grid(5, 7), np.ones(125)
    row("solve(A, b), auto, 125 rows", lambda: tcsolve.solve(a, b, **keywords))
    row("solve(A, b, method='cg', M=None), 125 rows",
        lambda: tcsolve.solve(a, b, method="cg", M=None, **keywords))
    row("SciPy cg, 125 rows", lambda: sla.cg(a, b, rtol=1e-8))
    small = tcsolve.Solver(grid(2, 7), method="cg", **keywords)
    b8 = np.ones(8)
    x8, _ = small.solve(b8)
    row("Solver.solve from the answer, 8 rows", lambda: small.solve(b8, x8), 5000)
    core = small._core.solve
    row("  of it the compiled part",
        lambda: core(b8, x8, None, None, None, None, False, False, None, 1, 0), 5000)
    a = grid(64, 27)
    b, d = np.ones(a.shape[0]), a.diagonal()
    solver = tcsolve.Solver(a, method="cg", M="jacobi", **keywords)
    row("Solver.solve, cg with jacobi, 27 points, 64^3", lambda: solver.solve(b), 5)
    row("solve, once", lambda: tcsolve.solve(a, b, method="cg", M="jacobi", **keywords), 5)
    M = sla.LinearOperator(a.shape, matvec=lambda r: r / d)
    row("SciPy cg with Jacobi", lambda: sla.cg(a, b, rtol=1e-8, M=M), 5)
    f = grid(24, 7)
    f.data = f.data * (1 + 0.2 * np.sin(np.arange(f.nnz)))
    bf = np.ones(f.shape[0])

    def adjoint():
        s = tcsolve.Solver(f, method="gmres", M="ilu", **keywords)
        seconds = s.setup["seconds"]
        s.solve(bf)
        s.solve(bf, transpose=True)
        return sum(seconds[k] for k in ("plan", "convert", "setup", "upload")), s.setup["seconds"][
            "transpose"]

    first, second = (statistics.median(t) for t in zip(*(adjoint() for _ in range(5))))
    print(f"set-up of gmres with ilu, 13,824 rows | {first * 1e3:.1f} ms")
    print(f"set-up of its adjoint | {second * 1e3:.1f} ms")
    core = importlib.import_module("tcsolve._core").__file__
    print(f"the module | {os.path.getsize(core) / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
