"""The sparse coder as a differentiable function of PyTorch (`pip install hyperatom[torch]`)."""

from __future__ import annotations

from typing import Any

import torch
from torch.autograd.function import once_differentiable

from ._codes import sparse_code as _sparse_code


class _SparseCode(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, K: torch.Tensor, B: torch.Tensor, lambda1: float, lambda2: float, tolerance: float
    ) -> torch.Tensor:
        code = _sparse_code(
            K.detach().cpu().numpy(), B.detach().cpu().numpy(), lambda1, lambda2=lambda2, tolerance=tolerance
        )
        ctx.code, ctx.like = code, B
        return torch.from_numpy(code.A).to(B)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: torch.Tensor) -> tuple:
        in_K, in_B = ctx.code.vjp(gradient.cpu().numpy())
        return torch.from_numpy(in_K).to(ctx.like), torch.from_numpy(in_B).to(ctx.like), None, None, None


def sparse_code(
    K: torch.Tensor, B: torch.Tensor, lambda1: float, *, lambda2: float = 0.0, tolerance: float = 1e-10
) -> torch.Tensor:
    """The joint sparse code of one window, with gradients in K and B.

    Parameters
    ----------
    K : Tensor of shape (d, d)
        Kernel between the atoms; its symmetric part is used.
    B : Tensor of shape (d, S)
        Kernel between the atoms and the pixels of the window.
    lambda1 : float
        Weight of the joint sparsity.
    lambda2 : float, default=0.0
        Weight of the squared norm of the code.
    tolerance : float, default=1e-10
        Largest duality gap, relative to the objective.

    Returns
    -------
    Tensor of shape (d, S)
        The code. It is computed on the CPU in double precision and given in the precision and on the device of B.

    Examples
    --------
    >>> import torch
    >>> import hyperatom.torch
    >>> B = torch.tensor([[1.0], [0.2]], dtype=torch.float64, requires_grad=True)
    >>> A = hyperatom.torch.sparse_code(torch.eye(2, dtype=torch.float64), B, lambda1=0.5)
    >>> A.sum().backward()
    >>> B.grad.tolist()
    [[1.0], [0.0]]
    """
    return _SparseCode.apply((K + K.mT) / 2, B, lambda1, lambda2, tolerance)
