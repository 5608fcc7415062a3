"""sparse_code beside scikit-learn's solvers, finite differences, and torch's gradcheck."""

import numpy as np
import pytest
from sklearn.linear_model import Lasso, MultiTaskLasso

from hyperatom import sparse_code


def problem(S, seed=0):
    rng = np.random.default_rng(seed)
    D, X = rng.normal(size=(20, 8)), rng.normal(size=(20, S))
    return D, X, D.T @ D, D.T @ X


def objective(K, B, A, lambda1, lambda2, kappa):
    smooth = 0.5 * np.trace(A.T @ K @ A) - np.trace(B.T @ A) + 0.5 * kappa
    return smooth + lambda1 * np.linalg.norm(A, axis=1).sum() + 0.5 * lambda2 * (A**2).sum()


@pytest.mark.parametrize("S, lambda1", [(1, 2.0), (4, 10.0)])
def test_code_is_that_of_scikit_learn(S, lambda1):
    D, X, K, B = problem(S)
    peer = (Lasso if S == 1 else MultiTaskLasso)(alpha=lambda1 / 20, fit_intercept=False, tol=1e-12, max_iter=100000)
    theirs = peer.fit(D, X[:, 0] if S == 1 else X).coef_.reshape(S, 8).T
    ours = sparse_code(K, B, lambda1)
    assert 0 < len(ours.active) < 8
    np.testing.assert_allclose(ours.A, theirs, atol=1e-6)
    np.testing.assert_array_equal(np.flatnonzero(ours.A.any(axis=1)), ours.active)


@pytest.mark.parametrize("kappa", [None, 90.0])
def test_certificate_bounds_the_distance_to_the_minimum(kappa):
    D, X, K, B = problem(3)
    rough = sparse_code(K, B, lambda1=1.0, lambda2=0.1, tolerance=1e-1, kappa=kappa)
    exact = sparse_code(K, B, lambda1=1.0, lambda2=0.1, tolerance=1e-12, kappa=kappa)
    own = np.trace(B.T @ np.linalg.solve(K, B)) if kappa is None else kappa
    for code in (rough, exact):
        assert code.objective == pytest.approx(objective(K, B, code.A, 1.0, 0.1, own), rel=1e-9)
        assert code.converged
    assert -1e-9 <= rough.objective - exact.objective <= rough.gap + 1e-12
    assert exact.gap <= 1e-11 * exact.objective


@pytest.mark.parametrize("S", [1, 3])
def test_vjp_is_the_slope_of_finite_differences(S):
    _, _, K, B = problem(S, seed=2)
    rng = np.random.default_rng(0)
    G, dB = rng.normal(size=B.shape), rng.normal(size=B.shape)
    dK = rng.normal(size=K.shape)
    dK = dK + dK.T
    options = {"lambda1": 1.5, "lambda2": 0.01, "tolerance": 1e-14}
    in_K, in_B = sparse_code(K, B, **options).vjp(G)
    step = 1e-6
    for along_K, along_B, slope in ((dK, 0 * dB, (in_K * dK).sum()), (0 * dK, dB, (in_B * dB).sum())):
        ahead = sparse_code(K + step * along_K, B + step * along_B, **options)
        behind = sparse_code(K - step * along_K, B - step * along_B, **options)
        assert list(ahead.active) == list(behind.active)
        assert slope == pytest.approx(((ahead.A - behind.A) * G).sum() / (2 * step), rel=1e-5)
    np.testing.assert_array_equal(in_K, in_K.T)


def test_unpacks_as_code_and_product():
    A, vjp = sparse_code(np.eye(2), [[1.0], [0.1]], lambda1=0.5)
    np.testing.assert_allclose(A, [[0.5], [0]])
    np.testing.assert_allclose(vjp([[1.0], [1.0]])[1], [[1], [0]])


@pytest.mark.parametrize(
    "arguments, message",
    [
        ((np.eye(2), np.ones((3, 1)), 0.1), r"K has shape \(2, 2\) and B \(3, 1\), expected \(d, d\) and \(d, S\)"),
        ((np.array([[1.0, 2.0], [0.0, 1.0]]), np.ones((2, 1)), 0.1), "K is not symmetric"),
        ((np.eye(2), np.ones(2), 0.1), "B has 1 dimensions, expected 2"),
        ((-np.eye(2), np.ones((2, 1)), 0.1), "K has -1 on its diagonal"),
        ((np.eye(2), np.ones((2, 1)), -1.0), "lambda1"),
        ((np.eye(2), np.array([[np.nan], [1.0]]), 0.1), "finite"),
    ],
)
def test_bad_problems_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        sparse_code(*arguments)


def test_bad_kappas_are_refused():
    with pytest.raises(ValueError, match="kappa is -1, expected a sum"):
        sparse_code(np.eye(2), np.ones((2, 1)), 0.1, kappa=-1)


def test_gradients_of_another_shape_are_refused():
    with pytest.raises(ValueError, match=r"the gradient has shape \(1, 2\), the code \(2, 1\)"):
        sparse_code(np.eye(2), np.ones((2, 1)), 0.1).vjp(np.ones((1, 2)))


@pytest.mark.parametrize("S", [1, 3])
def test_torch_gradcheck(S):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    import hyperatom.torch

    _, _, K, B = problem(S, seed=2)
    inputs = [torch.tensor(array, requires_grad=True) for array in (K, B)]
    assert torch.autograd.gradcheck(
        lambda K, B: hyperatom.torch.sparse_code(K, B, 1.5, lambda2=0.01, tolerance=1e-14), inputs
    )
    code = hyperatom.torch.sparse_code(*(tensor.float() for tensor in inputs), 1.5, lambda2=0.01)
    assert code.dtype == torch.float32
    np.testing.assert_allclose(code.detach().numpy(), sparse_code(K, B, 1.5, lambda2=0.01).A, atol=1e-4)
