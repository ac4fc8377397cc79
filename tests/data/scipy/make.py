# SPDX-License-Identifier: Apache-2.0
"""Writes the files of this folder (SciPy 1.10, NumPy 1.24); tests/unit/io/binary.cpp reads them."""
import numpy as np
import scipy.sparse as sp

A = sp.csr_matrix(np.array([[4, 0, -1.5, 0], [0, 3, 0, 0], [0.125, 0, 2, 1], [0, 0, 0, 5]], float))
sp.save_npz("csr.npz", A)
sp.save_npz("csc.npz", A.tocsc().astype(">f4"), compressed=False)
# Entry (0, 0) twice, 4 = 1 + 3, rows in no order, 64-bit indices.
row, col = np.array([3, 0, 0, 1, 2, 2, 2, 0]), np.array([3, 0, 2, 1, 0, 2, 3, 0])
coo = sp.coo_matrix((np.array([5, 1, -1.5, 3, 0.125, 2, 1, 3]), (row, col)), shape=(4, 4))
coo.row, coo.col = row.astype(np.int64), col.astype(np.int64)
sp.save_npz("coo.npz", coo)
sp.save_npz("rectangular.npz", A[:2].tocsc())
sp.save_npz("diagonals.npz", A.todia())

b = np.array([1, -2.5, 3, 0.125])
np.save("f8.npy", b)
np.save("f8-big-endian.npy", b.astype(">f8"))
np.save("f4.npy", b.astype("<f4"))
np.save("f4-big-endian-column.npy", b.astype(">f4").reshape(4, 1))
np.save("i8.npy", np.array([1, -2, 3, 0]))
np.save("complex.npy", b + 1j)
np.save("row.npy", b.reshape(1, 4))
np.save("half.npy", b.astype("f2"))
