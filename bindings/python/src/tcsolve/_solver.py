# SPDX-License-Identifier: Apache-2.0
"""Solver, and solves of one system."""
from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from . import _arrays, _core, _packages
from ._errors import ConvergenceWarning, CopyWarning, Error, ShapeError, Unsupported
from ._info import Info, Infos
from ._options import device_for, is_given_M, place, points, vectors


class Solver:
    """Solves A x = b for one A and as many b as there are: what is set up is kept.

    Parameters
    ----------
    A : sparse matrix, optional
        SciPy or CuPy sparse, torch CSR, JAX BCSR, DOLFINx MatrixCSR, petsc4py Mat,
        `(data, indices, indptr[, shape])`, a LinearOperator, or a function. CSR with sorted
        columns, float64 values and int32 columns is used where it lies, and kept referenced: do
        not change its arrays but through `update_values`. Anything else is copied, with a
        CopyWarning.
    options : dict or str, optional
        Keys of the reference (`solver`, `preconditioner`, `operator`, `renew`, ...), or a whole
        config as YAML text.
    method : str or dict, optional
        "cg", "minres", "bicgstab", "gmres", "lsmr", ..., with keys as a dict; default auto, which
        goes by the entries of A.
    M : str, dict, LinearOperator, callable or Solver, optional
        The preconditioner: its name, or an approximation of A^-1.
    nullspace : "constant" or array of (n,) or (n, k), optional
        z with A z = 0, which b, residuals and x are kept free of.
    symmetric : bool, optional
        What is known of A, for the choices of auto, for factors, and for solves with A^T, which
        take A itself where it is True; by default its entries tell. It is believed.
    block : int, optional
        Unknowns of a node, rows that follow each other; by default the pattern tells.
    coordinates : array of (nodes, 2) or (nodes, 3), optional
        Of the nodes of a solid with as many unknowns each, for multigrid: rigid body modes.
    near_nullspace : array of (n,) or (n, k), optional
        Vectors that A nearly maps to zero, for multigrid, in the place of what it finds itself.
    device : "cpu", "cuda", "cuda:1", optional
        Where to compute; by default where A lies, and for one of the host a GPU where there is one.
        With functions as A or M, or a Solver as M: the host, and arrays of a device are copied,
        with a CopyWarning unless "cpu" is given.
    threads : int
        Of the host that share a loop; 0: one for each processor.
    stream : int
        A cudaStream_t that work begins after.
    borrow : bool
        False: A is copied in any case.
    **keys
        Of the method: `rtol`, `atol`, `maxiter`, `restart`, ...

    Raises
    ------
    ConfigError, MatrixError, SetupError, ShapeError, Unsupported, OutOfMemory, DeviceError

    One solve is at work at a time; other threads wait for it. Several solvers work side by side.
    """

    def __init__(self, A: Any = None, *, options: dict[str, Any] | str | None = None,
                 method: str | dict[str, Any] | None = None, M: Any = None, nullspace: Any = None,
                 symmetric: bool | None = None, device: str | None = None,
                 stream: int | None = None, borrow: bool = True, threads: int = 0, block: int = 0,
                 coordinates: Any = None, near_nullspace: Any = None, **keys: Any) -> None:
        self._M = M if is_given_M(M) else None
        why = None
        if device is None:
            device, why = device_for(A, M)
        self._init(place(options, method, M, symmetric, nullspace, device, threads, stream, keys),
                   borrow, why)
        if block or coordinates is not None or near_nullspace is not None:
            self._core.set_nodes(int(block), points(coordinates), vectors(near_nullspace))
        if A is not None:
            self.set_matrix(A)

    def _init(self, where, borrow, why_host=None):
        self._core: Any = _core.Core(where)
        self._why_host = why_host  # until it has been said
        self._borrow = borrow
        self._kept = None  # what the library may read: the arrays of A
        self._pattern = None

    # The matrix.

    def set_matrix(self, A: Any) -> Solver:
        """Another matrix: orders and converts it, and makes the preconditioner. Returns self.

        If it raises, the solver has no matrix until the next one.
        """
        core = self._open()
        M = None if self._M is None else _arrays.Operator(_operator_of(self._M), None
                                                          if hasattr(self._M, "matvec") else _columns(A))
        csr = _arrays.csr_of(A)
        if csr is None:
            op = _arrays.Operator(A, None if M is None else M.shape[0])
            self._kept = self._pattern = None
            core.set_functions(*op.shape, op.apply, op.transposed, M and M.apply,
                               M and M.transposed)
            return self
        if self._why_host and csr.device():
            self._say_host("A")
        self._pattern = None
        before, self._kept = self._kept, csr  # what is borrowed now stays until it is let go
        if M is not None:
            core.set_csr_and_M(*csr.args(), M.apply, M.transposed)
        else:
            core.set_csr(*csr.args(), self._borrow, csr.stream())
        del before
        if not self._borrow and M is None:
            self._kept = None
        self._pattern = csr
        return self

    def set_coo(self, i: Any, j: Any, values: Any, shape: tuple[int, int] | None = None, *,
                base: int = 0) -> Solver:
        """The matrix of entries (i_k, j_k, values_k) in any order, as element loops leave them.

        Entries of one place are added, in their order; a number below `base` leaves its entry out.
        The places are found here, once: `update_coo` gives new values. shape: (rows, columns); by
        default square, with the largest number of a row or a column. Arrays of one package, on the
        host or a device, where the work is done; they are not kept. Returns self.
        """
        core = self._open()
        if self._M is not None:
            raise Unsupported("entries with a preconditioner of yours; give the matrix by rows")
        i, j = (_arrays.numbers(n, base) for n in (i, j))
        values = _packages.Vector(values)
        if shape is None:
            n = 1 + max((int(a.max()) for a in (i, j) if a.shape[0] > 0), default=-1)
            shape = (n, n)
        self._pattern = None
        core.set_coo(*(int(n) for n in shape), i, j, values.array, _current_stream(values.array))
        self._kept = None
        return self

    def update_coo(self, values: Any) -> Solver:
        """New values of the entries of `set_coo`, in their order. Returns self."""
        values = _packages.Vector(values).array
        self._open().update_coo(values, _current_stream(values))
        return self

    def update_values(self, A: Any) -> Solver:
        """New values on the same pattern: a matrix, or the array of its values. Returns self.

        The pattern is not compared. The preconditioner is updated, or made anew.
        """
        core = self._open()
        if self._pattern is None:
            raise ShapeError("update_values without a matrix; call set_matrix")
        if getattr(A, "ndim", 2) == 1 and not hasattr(A, "indptr"):
            csr = _arrays.with_values(self._pattern, A)
        else:
            csr = _arrays.csr_of(A)
        if csr is None:
            raise TypeError("update_values takes a matrix or the array of its values")
        if self._M is not None:
            return self.set_matrix(csr)
        core.update(*csr.args(), csr.stream())
        if self._borrow:
            self._kept = csr
        return self

    def refresh(self) -> Solver:
        """To be called when operators that were given as functions have changed."""
        self._open().refresh()
        return self

    # Solves.

    def solve(self, b: Any, x0: Any = None, out: Any = None, rtol: float | None = None,
              atol: float | None = None, maxiter: int | None = None, transpose: bool = False,
              callback: Callable[[int, float], object] | None = None, stream: int | None = None, *,
              time_limit: float | None = None, every: int = 1,
              check: bool = False) -> tuple[Any, Any]:
        """x, info: an approximation of A^-1 b, and the verdict on it.

        Parameters
        ----------
        b : array of (n,) or (n, k)
            Columns of a block are solved for one after another, or together by a block method.
        x0 : array, optional
            The guess; 0 without it. It is not changed.
        out : float64 array, optional
            Where x is written: a contiguous one of x's shape, on the host or the device.
        stream : int, optional
            The cudaStream_t whose work the solve begins after; by default the current stream of b's
            package.
        rtol, atol, maxiter, time_limit : optional
            For this solve, in the place of the options. Converged means
            ||b - A x|| <= max(rtol ||b||, atol), recomputed from A in twice FP64.
        transpose : bool
            A^T x = b. A symmetric A serves itself; of another one the first such solve makes a
            second set-up (`setup["transposed"]` tells).
        callback : callable(iteration, norm), optional
            Called after every `every` iterations; False ends the solve. What it raises ends it, too,
            and passes through.
        check : bool
            True: a solve that does not reach its tolerance raises NotConverged. Otherwise it is one
            ConvergenceWarning.

        Returns
        -------
        x : array of b's package and type, where b lies: float32 for float32; `out` where it is given.
            It is there when the call returns, in whatever stream it is used
        info : Info, for a block Infos
        """
        x, info = self._solve(b, x0, out, rtol, atol, maxiter, time_limit, transpose, callback,
                              every, stream)
        if not info.solved:
            _say(x, info, check, 3)
        return x, info

    def _solve(self, b, x0, out, rtol, atol, maxiter, time_limit, transpose, callback, every,
               stream):
        core = self._open()
        given = None
        if type(b) is not np.ndarray or b.dtype != np.float64 or b.ndim != 1 or (
            not b.flags.c_contiguous
        ):
            package = _packages.package_of(b)
            at = None if core.on_host else package.direct(b)
            if at is not None:
                done = self._solve_at(core, package, b, at, x0, out, rtol, atol, maxiter, time_limit,
                                      transpose, callback, every, stream)
                if done is not None:
                    return done
            if self._why_host and _packages.device_of(b):
                self._say_host("b")
            given = _packages.Vector(b, to_host=core.on_host)
            b = given.array
        rows, cols = core.shape
        if rows == 0 and not core.ready:
            raise ShapeError("solve without a matrix; call set_matrix")
        if transpose:
            rows, cols = cols, rows
        if b.ndim not in (1, 2) or b.shape[0] != rows:
            raise ShapeError(f"b has shape {tuple(b.shape)}; A{'^T' if transpose else ''} is "
                             f"{rows} x {cols}")
        if out is not None:
            x = _room(out, (cols, *b.shape[1:]))
        else:
            x = np.empty(cols) if given is None else given.empty(cols, core)
        if stream is None:
            stream = _current_stream(b) or _current_stream(x)
        if type(x0) is np.ndarray is type(x) and x0.shape == x.shape:
            x[...] = x0
        elif x0 is not None:
            if tuple(np.shape(x0)) != (cols, *b.shape[1:]):
                raise ShapeError(f"x0 has shape {np.shape(x0)}; x is {(cols, *b.shape[1:])}")
            _packages.write(x, x0, core, stream)
        solve = core.solve if b.ndim == 1 else core.solve_columns
        told = solve(b, x, rtol, atol, maxiter, time_limit, bool(transpose), x0 is None, callback,
                     every, stream)
        info = Info(told) if b.ndim == 1 else Infos(Info(t) for t in told)
        if out is not None:
            return out, info
        return (x if given is None else given.back(x)), info

    def _solve_at(self, core, package, b, at, x0, out, rtol, atol, maxiter, time_limit, transpose,
                  callback, every, stream):
        """_solve() of vectors of a device as they lie; None where one is not such a vector.

        Nothing is launched and nothing is exported here: the compiled part copies the guess, after
        the stream, where it solves.
        """
        pointer, n, device = at
        rows, cols = core.shape
        if transpose:
            rows, cols = cols, rows
        if n != rows:
            return None  # the errors are told there
        guess = 0
        if x0 is not None:
            there = package.direct(x0) if type(x0) is type(b) else None
            if there is None or there[1] != cols or there[2] != device:
                return None
            guess = there[0]
        if out is None:
            x = package.vector(b, cols, device)
            address = package.address(x)
        else:
            x = out
            room = package.direct(x) if type(x) is type(b) else None
            if room is None or room[1] != cols or room[2] != device:
                return None
            address = room[0]
        if stream is None:
            stream = package.stream(b)
        told = core.solve_at(pointer, n, address, cols, guess, device, rtol, atol, maxiter,
                             time_limit, bool(transpose), callback, every, stream)
        return x, Info(told)

    def aslinearoperator(self) -> Any:
        """A^-1 as a LinearOperator; a product that is not solved raises NotConverged.

        It is SciPy's, or where A is CuPy's, CuPy's.
        """
        rows, cols = self.shape
        return self._linear_operator()(
            (cols, rows), dtype=np.float64,
            matvec=lambda b: self.solve(b.ravel(), check=True)[0],
            rmatvec=lambda b: self.solve(b.ravel(), transpose=True, check=True)[0],
        )

    def preconditioner(self) -> Any:
        """M, an approximation of A^-1, as a LinearOperator: for SciPy's own methods, or CuPy's."""
        rows, cols = self.shape

        def product(transpose):
            def apply(x):
                given = _packages.Vector(x.ravel(), to_host=self._core.on_host)
                y = given.empty(rows if transpose else cols, self._core)
                stream = given.package.stream(given.array)
                self._core.apply_M(given.array, y, transpose, stream)
                return given.back(y)

            return apply

        return self._linear_operator()((cols, rows), dtype=np.float64, matvec=product(False),
                                       rmatvec=product(True))

    def _linear_operator(self):
        if self._pattern is not None and _packages.package_of(self._pattern.data).__name__ == "CuPy":
            from cupyx.scipy.sparse.linalg import LinearOperator
        else:
            from scipy.sparse.linalg import LinearOperator
        return LinearOperator

    # What it is.

    @property
    def shape(self) -> tuple[int, int]:
        """(rows, columns) of A."""
        if not self._open().ready:
            raise ShapeError("a solver without a matrix; call set_matrix")
        rows, cols = self._core.shape
        return rows, cols

    @property
    def format(self) -> str:
        """The format that A is stored in now."""
        return self._open().format

    @property
    def setup(self) -> dict[str, Any]:
        """What the last set-up took and made: a dict."""
        return json.loads(self._open().setup_json)

    @property
    def options(self) -> dict[str, Any]:
        """Every option with the value in force: a dict."""
        return json.loads(self._open().options_json)

    @property
    def memory(self) -> float:
        """Bytes of A and M, about: what a product with each reads, without the vectors.

        A polynomial or multigrid that reads a matrix several times counts it as often. The caller's
        arrays, vectors of the method and what a set-up keeps for new values are not in it: with
        factors of level 0 the process grows by three times as much.
        """
        return self._open().memory if self._core.ready else 0.0

    @property
    def device(self) -> str:
        """ "host, 8 threads", "NVIDIA H200"."""
        return self._open().device_name

    def cancel(self) -> None:
        """Ends the call that is at work, from any thread; a solve's outcome is then `cancelled`."""
        self._open().cancel()

    def close(self) -> None:
        """Frees everything, now."""
        self._core = None
        self._kept = self._pattern = self._M = None

    def _say_host(self, what):
        why, self._why_host = self._why_host, None
        warnings.warn(f"{why}, so that the solver computes on the host: {what} is copied from its "
                      "device; device='cpu' says that it is meant", CopyWarning, _level_of_caller())

    def _open(self):
        if self._core is None:
            raise Error("the solver has been closed")
        return self._core

    def __enter__(self) -> Solver:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self):
        if self._core is None:
            return "<tcsolve.Solver: closed>"
        if not self._core.ready:
            return f"<tcsolve.Solver: without a matrix, on {self._core.device_name}>"
        rows, cols = self._core.shape
        return f"<tcsolve.Solver: {rows} x {cols} in {self._core.format}, on {self.device}>"


def _room(out, shape):
    """out, if x can be written there."""
    if tuple(out.shape) != shape:
        raise ShapeError(f"out has shape {tuple(out.shape)}; x is {shape}")
    if _packages.dtype_name(out) != "float64":
        raise ShapeError(f"out is {out.dtype}; it has to be float64")
    package = _packages.package_of(out)
    if not package.writable:
        raise ShapeError("out of JAX: its arrays cannot be written")
    if not package.gapless(out):
        raise ShapeError("out has gaps between its entries")
    return package.plain(out)


def _current_stream(a):
    return 0 if type(a) is np.ndarray else _packages.package_of(a).stream(a)


def _level_of_caller():
    """The stacklevel that names the first line outside of this package, for who calls this."""
    frame, level = sys._getframe(1), 1
    while frame.f_back and frame.f_globals.get("__name__", "").partition(".")[0] == "tcsolve":
        frame, level = frame.f_back, level + 1
    return level


def _say(x, info, check, level):
    """A verdict is heard of: it is raised, or warned of at the line of the caller."""
    if check:
        info.raise_if_not_solved(x)
    warnings.warn(info.message, ConvergenceWarning, stacklevel=level)


def _operator_of(M):
    """A Solver as M is its solve, whatever the verdict; a LinearOperator and a function stay."""
    if not isinstance(M, Solver):
        return M

    class Approximate:
        shape = M.shape[::-1]

        @staticmethod
        def matvec(b):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                return M.solve(b)[0]

        @staticmethod
        def rmatvec(b):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                return M.solve(b, transpose=True)[0]

    return Approximate()


def _columns(A):
    """Those of A, which are the rows and columns of M, for least squares as well."""
    shape = getattr(A, "shape", None)
    if shape is not None:
        return int(shape[1])
    csr = _arrays.csr_of(A)
    return None if csr is None else csr.cols


class _Sized:
    """A function as A, with the extents of b."""

    def __init__(self, f, n):
        self.shape, self.matvec = (n, n), f
