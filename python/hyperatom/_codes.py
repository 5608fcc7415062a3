"""Sparse codes by themselves, with certificate and derivatives."""

from __future__ import annotations

from typing import Any, Iterator, Optional

import numpy as np

from . import _core


class SparseCode:
    """What `sparse_code` returns; unpacks as `A, vjp`.

    Attributes
    ----------
    A : ndarray of shape (d, S)
        The code. Rows that no atom needs are 0.
    active : ndarray of int64
        The rows that are not 0.
    objective : float
        Its value at A, with the constant kappa / 2.
    gap : float
        The certificate: A is at most this much above the minimum.
    converged : bool
        Whether the gap is within the tolerance.

    Examples
    --------
    >>> import numpy as np
    >>> from hyperatom import sparse_code
    >>> A, vjp = sparse_code(np.eye(2), np.array([[1.0], [0.2]]), lambda1=0.5)
    >>> A
    array([[0.5],
           [0. ]])
    """

    def __init__(self, code: _core.Code):
        self._code = code
        self.A = code.dense()
        self.active = code.active
        self.objective = code.objective
        self.gap = code.gap
        self.converged = code.converged

    def vjp(self, gradient: Any) -> tuple[np.ndarray, np.ndarray]:
        """Vector-Jacobian product: derivatives of a function of the code, from its gradient in A.

        Parameters
        ----------
        gradient : array-like of shape (d, S)
            The function's gradient in A.

        Returns
        -------
        in_K : ndarray of shape (d, d)
            Its gradient in K, symmetric: K is taken to stay so.
        in_B : ndarray of shape (d, S)
            Its gradient in B.

        Examples
        --------
        >>> import numpy as np
        >>> from hyperatom import sparse_code
        >>> code = sparse_code(np.eye(2), np.array([[1.0], [0.2]]), lambda1=0.5)
        >>> in_K, in_B = code.vjp(np.ones((2, 1)))
        >>> in_B
        array([[1.],
               [0.]])
        """
        return self._code.vjp(_matrix(gradient, "gradient"))

    def __iter__(self) -> Iterator[Any]:
        return iter((self.A, self.vjp))

    def __repr__(self) -> str:
        d, S = self.A.shape
        return (
            f"SparseCode({len(self.active)} of {d} atoms, S = {S}, objective {self.objective:.6g}, gap {self.gap:.2g})"
        )


def _matrix(array: Any, name: str) -> np.ndarray:
    array = np.ascontiguousarray(array, dtype=np.float64)
    if array.ndim != 2:
        raise ValueError(f"{name} has {array.ndim} dimensions, expected 2")
    if not np.isfinite(array).all():
        raise ValueError(f"{name} has a value that is not finite")
    return array


def sparse_code(
    K: Any, B: Any, lambda1: float, *, lambda2: float = 0.0, tolerance: float = 1e-10, kappa: Optional[float] = None
) -> SparseCode:
    """The joint sparse code of one window.

    Minimises 1/2 tr(A'KA) - tr(B'A) + lambda1 sum_j ||a_j|| + lambda2/2 ||A||^2 over A, a_j being its rows.

    Parameters
    ----------
    K : array-like of shape (d, d)
        Kernel between the atoms, k(D, D); symmetric.
    B : array-like of shape (d, S)
        Kernel between the atoms and the S pixels of the window, k(D, X).
    lambda1 : float
        Weight of the joint sparsity.
    lambda2 : float, default=0.0
        Weight of the squared norm of the code.
    tolerance : float, default=1e-10
        Largest duality gap, relative to the objective.
    kappa : float, default=None
        The sum of k(x, x) over the window, on which objective and certificate depend, but not the code. None: the least it can be,
        tr(B'K^+B).

    Returns
    -------
    SparseCode
        The code, its certificate and its vector-Jacobian product.

    Examples
    --------
    >>> import numpy as np
    >>> from hyperatom import sparse_code
    >>> D, X = np.eye(3), np.array([[2.0, 1.0], [0.1, 0.0], [0.0, 0.1]])
    >>> code = sparse_code(D.T @ D, D.T @ X, lambda1=0.2)
    >>> code.active.tolist()
    [0]
    >>> bool(code.gap < 1e-8)
    True
    """
    K, B = _matrix(K, "K"), _matrix(B, "B")
    if K.shape[0] != K.shape[1] or B.shape[0] != K.shape[0]:
        raise ValueError(f"K has shape {K.shape} and B {B.shape}, expected (d, d) and (d, S)")
    if not np.allclose(K, K.T, rtol=1e-8, atol=1e-12):
        raise ValueError("K is not symmetric")
    if (np.diag(K) < 0).any():
        raise ValueError(f"K has {np.diag(K).min():.3g} on its diagonal, expected k(d, d): 0 or greater")
    if kappa is not None and not 0 <= kappa < np.inf:
        raise ValueError(f"kappa is {kappa}, expected a sum of k(x, x): 0 or greater")
    return SparseCode(_core.Code(K, B, lambda1, lambda2, tolerance, kappa))
