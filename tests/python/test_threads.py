# SPDX-License-Identifier: Apache-2.0
"""Threads, the interpreter's lock, Ctrl-C, fork and callbacks that ask for more."""
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from conftest import laplace, numbers, residual

import tcsolve


def test_one_solver_in_many_threads():
    a, bs = laplace(10), [numbers(1000, k) for k in range(32)]
    solver = tcsolve.Solver(a, method="cg", M="jacobi", device="cpu", threads=1)
    with ThreadPoolExecutor(4) as pool:
        told = list(pool.map(solver.solve, bs))
    for b, (x, info) in zip(bs, told):
        assert info.solved and residual(a, x, b) <= 1.01e-8


def test_one_shot_solves_in_many_threads():
    a, bs = laplace(6), [numbers(216, k) for k in range(64)]
    with ThreadPoolExecutor(4) as pool:
        for b, (x, info) in zip(bs, pool.map(lambda b: tcsolve.solve(a, b), bs)):
            assert residual(a, x, b) <= 1.01e-8


def test_the_lock_is_given_back():
    a, b = laplace(30), numbers(27000)
    solver = tcsolve.Solver(a, method="cg", rtol=1e-12, device="cpu", threads=1)
    ticks, over = [], threading.Event()

    def tick():
        while not over.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    begin = time.perf_counter()
    for _ in range(5):
        solver.solve(b)
    end = time.perf_counter()
    over.set()
    thread.join()
    inside = [t for t in ticks if begin < t < end]
    assert len(inside) >= 0.1 * (end - begin) / 0.002


def test_a_callback_that_asks_for_more():
    a, b = laplace(5), numbers(125)
    solver = tcsolve.Solver(a, method="cg")

    def ask(i, r):
        solver.solve(b)

    with pytest.raises(tcsolve.BusyError):
        solver.solve(b, callback=ask)
    x, info = tcsolve.solve(a, b, callback=lambda i, r: tcsolve.solve(a, b)[1].solved)
    assert info.solved
    other = tcsolve.Solver(a, method="cg")
    x, info = solver.solve(b, callback=lambda i, r: other.solve(b) is not None)
    assert info.solved


def test_cancel_from_another_thread():
    a, b = laplace(40), numbers(64000)
    solver = tcsolve.Solver(a, method="cg", rtol=0.0, atol=1e-300, maxiter=10**6,
                            stagnation_window=0, device="cpu")
    begun = threading.Event()
    timer = threading.Thread(target=lambda: (begun.wait(), solver.cancel()))
    timer.start()
    with pytest.warns(tcsolve.ConvergenceWarning):
        x, info = solver.solve(b, callback=lambda i, r: begun.set() or True)
    timer.join()
    assert info.reason in ("cancelled", "precision_limit")
    x, info = solver.solve(b, rtol=1e-6)  # the request is spent
    assert info.solved


ENDLESS = """
import sys, numpy as np, scipy.sparse as sp, tcsolve
n = 200_000
a = sp.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(n, n), format="csr")
s = tcsolve.Solver(a, method="cg", rtol=1e-14, maxiter=10**7, stagnation_window=0, device="cpu")
print("ready", flush=True)
try:
    s.solve(np.ones(n))
except KeyboardInterrupt:
    print("interrupted", flush=True)
    x, info = s.solve(np.ones(n), maxiter=1, atol=1e9)
    print(info.solved, flush=True)
"""


def test_ctrl_c():
    p = subprocess.Popen([sys.executable, "-W", "ignore", "-c", ENDLESS], stdout=subprocess.PIPE,
                         text=True)
    assert p.stdout.readline() == "ready\n"
    time.sleep(0.5)
    begin = time.perf_counter()
    p.send_signal(signal.SIGINT)
    assert p.stdout.readline() == "interrupted\n"
    seconds = time.perf_counter() - begin
    assert p.stdout.readline() == "True\n"
    assert p.wait() == 0
    assert seconds < 1.0  # 0.1 where nothing else runs


FORKS = """
import os, numpy as np, scipy.sparse as sp, tcsolve
n = 125
a = sp.diags_array([-1.0, 2.5, -1.0], offsets=[-1, 0, 1], shape=(n, n), format="csr")
b = np.ones(n)
solver = tcsolve.Solver(a, method="cg", device="cpu")
x, _ = solver.solve(b)
tcsolve.solve(a, b, device="cpu")
child = os.fork()
if child == 0:
    try:
        y, _ = solver.solve(b)
        z, info = tcsolve.solve(a, b, device="cpu")
        os._exit(0 if (x == y).all() and info.solved else 1)
    except BaseException:
        os._exit(2)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


def test_a_child_solves():
    p = subprocess.run([sys.executable, "-W", "ignore", "-c", FORKS], capture_output=True, text=True,
                       timeout=60)
    assert p.stdout == "0\n", p.stderr


def test_leaving_in_the_middle():
    """The process ends while a daemon thread solves."""
    code = ENDLESS.replace("try:", "import threading, time\nthreading.Thread(target=s.solve, "
                           "args=(np.ones(n),), daemon=True).start(); time.sleep(0.3); sys.exit(0)"
                           "\ntry:")
    p = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True,
                       timeout=60)
    assert p.returncode == 0, p.stderr


def test_import_is_quick():
    code = (
        "import numpy, time; t = time.perf_counter(); import tcsolve; "
        "print(time.perf_counter() - t); import sys; "
        "print([m for m in ('scipy', 'jax', 'torch', 'cupy') if m in sys.modules])"
    )
    best = 1.0
    for _ in range(3):
        out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        seconds, loaded = out.stdout.split("\n")[:2]
        best = min(best, float(seconds))
        assert loaded == "[]"
    assert best < 0.2  # 0.01 where nothing else runs
