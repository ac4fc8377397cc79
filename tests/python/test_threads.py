# SPDX-License-Identifier: Apache-2.0
"""Threads, the interpreter's lock, Ctrl-C, fork and callbacks that ask for more."""
import logging
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import scipy.sparse as sp
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


class Alarm(BaseException):
    """What a handler of the tests raises; a program's may be of any kind."""


def interrupted(f, delays, kind):
    """f() under an alarm after each delay: how many rang, ended f(), and how late at most."""
    rang, ended, late = 0, 0, 0.0

    def ring(*_):
        nonlocal rang
        rang += 1
        raise kind("rang")

    before = signal.signal(signal.SIGALRM, ring)
    try:
        for delay in delays:
            begin = time.perf_counter()
            try:
                signal.setitimer(signal.ITIMER_REAL, delay)
                f()
                signal.setitimer(signal.ITIMER_REAL, 0)
            except kind:
                ended += 1
                late = max(late, time.perf_counter() - begin - delay)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    return rang, ended, late


def seconds_of(f):
    begin = time.perf_counter()
    f()
    return time.perf_counter() - begin


def chain(n):
    return sp.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(n, n), format="csr")


@pytest.mark.parametrize("kind", [KeyboardInterrupt, Alarm, TimeoutError])
def test_no_signal_is_lost_in_one_shot_solves(kind):
    """Most ring while a line of the log is in Python."""
    a, b = chain(2000), np.ones(2000)
    one = min(seconds_of(lambda: tcsolve.solve(a, b, device="cpu")) for _ in range(3))
    rang, ended, _ = interrupted(lambda: [tcsolve.solve(a, b, device="cpu") for _ in range(20)],
                                 one * np.linspace(0.5, 12, 60), kind)
    assert rang == ended >= 30
    assert tcsolve.solve(a, b, device="cpu")[1].solved


def test_no_signal_is_lost_in_solves():
    a, b = chain(200_000), np.ones(200_000)
    solver = tcsolve.Solver(a, method="cg", rtol=1e-14, maxiter=10**7, stagnation_window=0,
                            device="cpu")
    rang, ended, late = interrupted(lambda: solver.solve(b), np.linspace(0.01, 0.15, 10), Alarm)
    assert rang == ended == 10 and late < 1.0  # 0.1 where nothing else runs
    assert solver.solve(b, maxiter=1, atol=1e9)[1].solved


@pytest.mark.parametrize("M, n", [("direct", 20), ("schwarz", 26), ("amg", 36), ("ic", 44)])
def test_no_signal_is_lost_in_set_ups(M, n):
    a = laplace(n)
    solver = tcsolve.Solver(method="cg", M=M, device="cpu")
    whole = seconds_of(lambda: solver.set_matrix(a))
    rang, ended, late = interrupted(lambda: solver.set_matrix(a),
                                    whole * np.linspace(0.1, 0.95, 9), KeyboardInterrupt)
    assert rang == ended >= 4 and late < 1.0  # 0.1 where nothing else runs
    assert solver.set_matrix(a).solve(numbers(n**3), check=True)[1].solved


def test_a_signal_ends_a_race():
    a, b = laplace(40), numbers(64000)
    rang, ended, late = interrupted(lambda: tcsolve.advise(a, b, seconds=5, device="cpu"),
                                    [0.05, 0.2, 0.5], KeyboardInterrupt)
    assert rang == ended == 3 and late < 1.0  # 0.1 where nothing else runs


def test_a_signal_ends_reading(tmp_path):
    from scipy.io import mmwrite

    mmwrite(tmp_path / "a.mtx", laplace(90))
    whole = min(seconds_of(lambda: tcsolve.read(tmp_path / "a.mtx")) for _ in range(2))
    rang, ended, late = interrupted(lambda: tcsolve.read(tmp_path / "a.mtx"),
                                    whole * np.linspace(0.1, 0.3, 4), KeyboardInterrupt)
    assert rang == ended >= 2 and late < max(0.2, 0.5 * whole)


def test_what_a_handler_of_the_log_raises():
    """It passes through, as from any call that logs."""
    class Handler(logging.Handler):
        def emit(self, record):
            raise self.kind

    log, handler = logging.getLogger("tcsolve"), Handler()
    log.addHandler(handler)
    level = log.level
    log.setLevel(logging.DEBUG)
    solver = tcsolve.Solver(method="cg", device="cpu")
    try:
        for handler.kind in (KeyboardInterrupt, SystemExit, ZeroDivisionError):
            with pytest.raises(handler.kind):
                solver.set_matrix(laplace(4))
    finally:
        log.removeHandler(handler)
        log.setLevel(level)
    assert solver.set_matrix(laplace(4)).solve(numbers(64))[1].solved


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


def test_nothing_is_kept_at_the_end():
    """Of this thread, or of others that live on. What is registered first is called last."""
    code = """
import atexit, threading
atexit.register(lambda: print(sum(map(len, once._of_threads)), once.kept()[0], flush=True))
import numpy as np, scipy.sparse as sp, tcsolve
from tcsolve import _once as once
a = sp.diags_array([-1.0, 2.5, -1.0], offsets=[-1, 0, 1], shape=(50, 50), format="csr")
began, stay = threading.Event(), threading.Event()
def other():
    tcsolve.solve(a, np.ones(50), device="cpu")
    began.set(), stay.wait()
threading.Thread(target=other, daemon=True).start()
began.wait()
tcsolve.solve(a, np.ones(50), device="cpu")
tcsolve.solve(a, np.ones(50), method="cg", device="cpu")
print(once.kept()[0], flush=True)
"""
    p = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert p.stdout.split() == ["3", "0", "0"], p.stdout + p.stderr


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
        "print([m for m in ('scipy', 'jax', 'torch', 'cupy', 'skfem') if m in sys.modules])"
    )
    best = 1.0
    for _ in range(3):
        out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        seconds, loaded = out.stdout.split("\n")[:2]
        best = min(best, float(seconds))
        assert loaded == "[]"
    assert best < 0.2  # 0.01 where nothing else runs
