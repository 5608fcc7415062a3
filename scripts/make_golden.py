#!/usr/bin/env python3
"""Writes the golden files of tests/golden: an independent oracle for hyperatom.

Everything here is written from the paper alone (joint sparse coding: eq. 5 and its optimality
conditions, eq. 6; learning: Algorithm 1) in plain, slow NumPy. Nothing is shared with the C++: the
coder is block coordinate descent finished by dense Newton steps, the step-7 system is the dense
Kronecker matrix, the step-9 sums are loops. The results are themselves checked: eq. 6 at every code,
and the gradients against finite differences.

    python scripts/make_golden.py [folder]        # default: tests/golden; needs numpy only

Conventions: indices count from 0; D is a list of atoms; a window is a list of pixels, the centre
first; A and beta have one row per atom and one column per pixel. Inputs are rounded to 6 decimals
before they are used, so the files hold exactly what was computed with.
"""

import json
import sys
from itertools import count, product
from pathlib import Path

import numpy as np

BANDS, ATOMS, CLASSES, SAMPLES, STEPS = 6, 5, 3, 12, 10
LAMBDA1, NU, RHO, T0 = 0.05, 1e-3, 0.05, 4
KKT_TOL = 1e-11        # eq. 6, absolute
FD_STEP = 1e-5
FD_TOL = 1e-5          # gradients against finite differences, relative to the largest entry
COND_MAX = 1e6         # of the step-7 matrix
# How far every row must stay from switching on or off: relative to lambda1 for the inactive rows, as
# a row norm for the active ones. Wide enough that FD_STEP can't change the active set either.
MARGIN = 1e-2


# --- kernels: k(x, d), and k'(x, d), its derivative in d alone (x held, even where x is d) ------------

class Kernel:
    def __init__(self, name, spec, value, derivative):
        self.name, self.spec, self.value, self.derivative = name, spec, value, derivative

    def gram(self, X, Y):
        return np.array([[self.value(x, y) for y in Y] for x in X])


def gaussian(sigma):
    def value(x, d):
        return np.exp(-np.sum((x - d) ** 2) / sigma)

    return Kernel("gaussian", f"gaussian(sigma={sigma})", value,
                  lambda x, d: value(x, d) * 2 * (x - d) / sigma)


def polynomial(degree, offset):
    return Kernel("polynomial", f"polynomial(degree={degree},offset={offset})",
                  lambda x, d: (x @ d + offset) ** degree,
                  lambda x, d: degree * (x @ d + offset) ** (degree - 1) * x)


LINEAR = Kernel("linear", "linear", lambda x, d: x @ d, lambda x, d: x)
KERNELS = [LINEAR, gaussian(0.7), polynomial(3, 0.5)]


# --- joint sparse coding, eq. 5 -----------------------------------------------------------------------

def kkt_residual(K, B, A, lambda2):
    """The largest violation of eq. 6, and ||G_j||, the norms of the rows of its left-hand side."""
    G = B - K @ A - lambda2 * A
    norms, g_norms = np.linalg.norm(A, axis=1), np.linalg.norm(G, axis=1)
    worst = 0.0
    for j in range(len(A)):
        if norms[j] > 0:
            worst = max(worst, np.linalg.norm(G[j] - LAMBDA1 * A[j] / norms[j]))
        else:
            worst = max(worst, g_norms[j] - LAMBDA1)
    return worst, g_norms


def curvature(K, A, active, lambda2):
    """The dense matrix of step 7 (and the Hessian of eq. 5 on its active rows), atom by atom."""
    S = A.shape[1]
    delta = np.zeros((len(active) * S, len(active) * S))  # the direct sum of the Delta_j
    for i, j in enumerate(active):
        norm = np.linalg.norm(A[j])
        block = slice(i * S, (i + 1) * S)
        delta[block, block] = np.eye(S) / norm - np.outer(A[j], A[j]) / norm**3
    return (np.kron(K[np.ix_(active, active)], np.eye(S)) + LAMBDA1 * delta
            + lambda2 * np.eye(len(active) * S))


def encode(K, B, lambda2, start=None):
    """The minimiser A of eq. 5 from K = k(D,D) and B = k(D,X), with its active rows."""
    A = np.zeros_like(B) if start is None else start.copy()
    for sweep in range(200_000):
        for j in range(len(A)):  # each row has a closed form when the others are held
            r = B[j] - K[j] @ A + K[j, j] * A[j]
            norm = np.linalg.norm(r)
            A[j] = max(0.0, 1 - LAMBDA1 / norm) * r / (K[j, j] + lambda2) if norm > 0 else 0.0
        if sweep % 10 == 0 and kkt_residual(K, B, A, lambda2)[0] < 1e-9:
            break
    active = np.flatnonzero(np.linalg.norm(A, axis=1))
    for _ in range(5 if len(active) else 0):  # quadratic convergence: two reach the rounding floor
        L = A[active]
        gradient = (K @ A - B + lambda2 * A)[active] + LAMBDA1 * L / np.linalg.norm(L, axis=1)[:, None]
        step = np.linalg.solve(curvature(K, A, active, lambda2), gradient.ravel())
        A[active] -= step.reshape(L.shape)
    residual, _ = kkt_residual(K, B, A, lambda2)
    assert residual < KKT_TOL, f"eq. 6 holds to {residual:.1e} only"
    return A, active


def encode_window(kernel, X, D, lambda2, start=None):
    return encode(kernel.gram(D, D), kernel.gram(D, X), lambda2, start)


# --- Algorithm 1 --------------------------------------------------------------------------------------

class Unsuitable(Exception):
    """The random instance is too close to a switch of the active set, or shows too little."""


def check_margins(K, B, A, active, lambda2):
    """Refuses a code near a switch of its active rows; returns the step-7 condition number."""
    if len(active) == 0:
        raise Unsuitable("no active row")
    _, g_norms = kkt_residual(K, B, A, lambda2)
    row_norms = np.linalg.norm(A, axis=1)
    inactive = np.setdiff1d(np.arange(len(A)), active)
    cond = np.linalg.cond(curvature(K, A, active, lambda2))
    if (LAMBDA1 - g_norms[inactive] < MARGIN * LAMBDA1).any() or (row_norms[active] < MARGIN).any():
        raise Unsuitable("a row near the boundary")
    if cond > COND_MAX:
        raise Unsuitable("step 7 ill-conditioned")
    return cond


def task_loss(kernel, X, y, D, W, lambda2, start, active):
    """The per-sample objective; `active` must not change, else finite differences mean nothing."""
    A, now_active = encode_window(kernel, X, D, lambda2, start)
    assert list(now_active) == list(active)
    return 0.5 * np.sum((y - W @ A[:, 0]) ** 2) + NU / 2 * np.sum(W**2)


def gradients(kernel, X, y, D, W, lambda2):
    """Steps 3 to 7 and the two gradients of step 9. D holds one atom per row."""
    d, S = len(D), len(X)
    K, B = kernel.gram(D, D), kernel.gram(D, X)
    A, active = encode(K, B, lambda2)
    cond = check_margins(K, B, A, active, lambda2)

    # Step 7. vec() of an S x |L| matrix and K (x) I both run atom by atom, hence so does beta. (The
    # paper's Upsilon runs pixel by pixel, against its own s~ of step 9.)
    A_bar, Y_bar = np.zeros((d, S)), np.zeros((len(W), S))
    A_bar[:, 0], Y_bar[:, 0] = A[:, 0], y
    g = ((W @ A_bar - Y_bar).T @ W[:, active]).ravel(order="F")
    upsilon = np.concatenate([j * S + np.arange(S) for j in active])
    beta = np.zeros(d * S)
    beta[upsilon] = np.linalg.solve(curvature(K, A, active, lambda2), g)

    # Step 9.
    grad_W = np.outer(W @ A[:, 0] - y, A[:, 0]) + NU * W
    grad_D = np.zeros_like(D)
    for s in range(S):
        beta_s = beta[s + S * np.arange(d)]
        for j in range(d):
            k_D = np.array([kernel.derivative(D[i], D[j]) for i in range(d)]).T  # k'(D, d_j): n x d
            grad_D[j] += (kernel.derivative(X[s], D[j]) - k_D @ A[:, s]) * beta_s[j]
            grad_D[j] -= k_D @ beta_s * A[j, s]
    return grad_D, grad_W, A, active, beta.reshape(d, S), cond


def central_differences(f, M):
    gradient = np.zeros_like(M)
    for index in np.ndindex(M.shape):
        up, down = M.copy(), M.copy()
        up[index] += FD_STEP
        down[index] -= FD_STEP
        gradient[index] = (f(up) - f(down)) / (2 * FD_STEP)
    return gradient


def relative_error(approximate, exact):
    return np.abs(approximate - exact).max() / np.abs(exact).max()


def random_instance(rng, S):
    """Windows of smooth, coherent, non-negative unit spectra; atoms near and inside the unit ball."""
    bands = np.arange(BANDS)

    def spectrum(label, spread):
        centre = 1.0 + 1.7 * label + spread * rng.normal()
        bump = np.exp(-((bands - centre) ** 2) / (2 * (1.3 + 0.2 * rng.random()) ** 2))
        x = 0.15 + bump + 0.02 * rng.random(BANDS)
        return x / np.linalg.norm(x)

    labels = rng.permutation(np.arange(SAMPLES) % CLASSES)
    windows = np.array([[spectrum(label, 0.3) for _ in range(S)] for label in labels])
    D = np.array([spectrum(j % CLASSES, 0.6) * rng.uniform(0.9, 0.9999) for j in range(ATOMS)])
    W = 0.5 * rng.normal(size=(CLASSES, ATOMS))
    order = rng.integers(SAMPLES, size=STEPS)
    return windows.round(6), labels, order, D.round(6), W.round(6)


def run_algorithm1(kernel, S, lambda2, seed):
    windows, labels, order, D0, W0 = random_instance(np.random.default_rng(seed), S)
    D, W = D0.copy(), W0.copy()
    steps, first, conds, sets, projected = {}, None, [], [], []
    for t in range(1, STEPS + 1):
        X, y = windows[order[t - 1]], np.eye(CLASSES)[labels[order[t - 1]]]
        grad_D, grad_W, A, active, beta, cond = gradients(kernel, X, y, D, W, lambda2)
        if t == 1:
            first = A, active, beta, grad_D, grad_W
        rate = min(RHO, RHO * T0 / t)
        W, D = W - rate * grad_W, D - rate * grad_D  # both gradients are of the old W and D
        norms = np.linalg.norm(D, axis=1)
        D = D / np.maximum(1.0, norms)[:, None]
        if t in (1, STEPS):
            steps[str(t)] = {"D": D.tolist(), "W": W.tolist()}
        conds.append(cond)
        sets.append(tuple(active))
        projected.append(norms > 1)

    A, active, beta, grad_D, grad_W = first
    sizes = [len(s) for s in sets]
    if not 2 <= len(active) < ATOMS or len(set(sets)) < 2:
        raise Unsuitable("active sets too plain")
    if np.all(projected) or not np.any(projected):
        raise Unsuitable("the projection does nothing, or does all")

    X, y = windows[order[0]], np.eye(CLASSES)[labels[order[0]]]
    errors = (
        relative_error(central_differences(
            lambda M: task_loss(kernel, X, y, M, W0, lambda2, A, active), D0), grad_D),
        relative_error(central_differences(
            lambda M: task_loss(kernel, X, y, D0, M, lambda2, A, active), W0), grad_W))
    assert max(errors) < FD_TOL, f"gradients are off by {errors}"

    case = f"{kernel.name}_s{S}_l2_{str(lambda2).replace('.', 'p')}"
    golden = {
        "case": case, "kernel": kernel.spec, "bands": BANDS, "atoms": ATOMS, "classes": CLASSES,
        "window": S, "lambda1": LAMBDA1, "lambda2": lambda2, "nu": NU, "rho": RHO, "t0": T0,
        "pixels": windows.reshape(SAMPLES, S * BANDS).tolist(), "labels": labels.tolist(),
        "order": order.tolist(), "D0": D0.tolist(), "W0": W0.tolist(), "steps": steps,
        "codes": A.tolist(), "beta": beta.tolist(), "active": active.tolist(),
    }
    note = (f"seed {seed}, active {min(sizes)}..{max(sizes)}, cond <= {max(conds):.0f}, "
            f"differences D {errors[0]:.0e} W {errors[1]:.0e}")
    return golden, note


def first_suitable(make, seed):
    """The first instance, counting seeds upwards, that is not refused."""
    for s in count(seed):
        try:
            return make(s)
        except Unsuitable:
            pass


# --- the unsupervised objective -----------------------------------------------------------------------

def unsupervised_value(kernel, X, D, lambda2, start=None):
    A, _ = encode_window(kernel, X, D, lambda2, start)
    K, B = kernel.gram(D, D), kernel.gram(D, X)
    fit = sum(0.5 * kernel.value(x, x) - B[:, s] @ A[:, s] + 0.5 * A[:, s] @ K @ A[:, s]
              for s, x in enumerate(X))
    return fit + LAMBDA1 * np.linalg.norm(A, axis=1).sum() + lambda2 / 2 * np.sum(A**2)


def run_unsupervised(kernel, S, lambda2, seed):
    windows, _, _, D, _ = random_instance(np.random.default_rng(seed), S)
    X = windows[0]
    A, active = encode_window(kernel, X, D, lambda2)
    check_margins(kernel.gram(D, D), kernel.gram(D, X), A, active, lambda2)
    if not 2 <= len(active) < ATOMS:
        raise Unsuitable("active set too plain")
    gradient = central_differences(lambda M: unsupervised_value(kernel, X, M, lambda2, A), D)
    # The envelope theorem: the derivative of the objective with A held.
    envelope = np.array([
        sum(A[j, s] * (sum(A[i, s] * kernel.derivative(D[i], D[j]) for i in range(ATOMS))
                       - kernel.derivative(X[s], D[j])) for s in range(S))
        for j in range(ATOMS)])
    error = relative_error(gradient, envelope)
    assert error < FD_TOL, f"unsupervised gradient is off by {error}"
    return {"kernel": kernel.spec, "bands": BANDS, "atoms": ATOMS, "window": S, "lambda1": LAMBDA1,
            "lambda2": lambda2, "pixels": X.ravel().tolist(), "D": D.tolist(),
            "value": float(unsupervised_value(kernel, X, D, lambda2)), "gradient": gradient.tolist(),
            "gradient_step": FD_STEP, "active": active.tolist()}


# --- the initial W ------------------------------------------------------------------------------------
# A loss maps scores and the one-hot Y (samples x classes) to values, gradients, Hessians per sample.

def squared(scores, Y):
    hessian = np.broadcast_to(np.eye(Y.shape[1]), (len(Y), Y.shape[1], Y.shape[1]))
    return 0.5 * np.sum((Y - scores) ** 2, axis=1), scores - Y, hessian


def softmax(scores, Y):
    shifted = scores - scores.max(axis=1, keepdims=True)
    log_sum = np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    p = np.exp(shifted - log_sum)
    hessian = np.array([np.diag(q) - np.outer(q, q) for q in p])
    return np.sum(Y * (log_sum - shifted), axis=1), p - Y, hessian


def squared_hinge(scores, Y):
    signs = 2 * Y - 1
    slack = np.maximum(0.0, 1 - signs * scores)
    hessian = np.array([np.diag(row) for row in (slack > 0).astype(float)])
    return 0.5 * np.sum(slack**2, axis=1), -signs * slack, hessian


def objective(loss, theta, features, penalty, Y, weights):
    """Value, gradient and Hessian in theta (classes x features, row by row)."""
    values, slopes, curves = loss(features @ theta.T, Y)
    share = weights / len(Y)
    value = share @ values + 0.5 * np.sum(penalty * theta**2)
    gradient = (share[:, None] * slopes).T @ features + penalty * theta
    hessian = np.diag(np.tile(penalty, len(theta)))
    for i, a in enumerate(features):
        hessian += share[i] * np.kron(curves[i], np.outer(a, a))
    return value, gradient, hessian


def newton(loss, features, penalty, Y, weights):
    """Damped Newton to a gradient norm of 1e-14. Softmax leaves b free to shift: least-norm steps."""
    theta = np.zeros((Y.shape[1], features.shape[1]))
    for _ in range(200):
        value, gradient, hessian = objective(loss, theta, features, penalty, Y, weights)
        if np.linalg.norm(gradient) < 1e-14:
            return theta
        step = np.linalg.lstsq(hessian, gradient.ravel(), rcond=1e-12)[0].reshape(theta.shape)
        size = 1.0
        # The last term lets the step through once the decrease drowns in the rounding of the value.
        while size > 1e-6 and (objective(loss, theta - size * step, features, penalty, Y, weights)[0]
                               > value - 1e-4 * size * np.sum(gradient * step) + 1e-15):
            size /= 2
        theta = theta - size * step
    raise AssertionError("Newton did not converge")


def run_ridge(seed):
    n, d, C, nu = 15, 4, 3, 0.01
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.arange(n) % C)
    prototypes = rng.normal(size=(C, d))
    # Sparse like codes; the noise makes the classes overlap, so that no loss vanishes.
    codes = ((prototypes[labels] + 0.8 * rng.normal(size=(n, d))) * (rng.random((n, d)) < 0.7)).round(6)
    raw = rng.uniform(0.3, 2.0, size=n)
    weights, uniform = raw / raw.mean(), np.ones(n)
    Y = np.eye(C)[labels]
    with_one, penalty = np.hstack([codes, np.ones((n, 1))]), np.array([nu] * d + [0.0])  # b is free

    def ridge(features, penalty, w):
        """The normal equations, confirmed by a vanishing gradient."""
        theta = np.linalg.solve(features.T @ (w[:, None] * features) / n + np.diag(penalty),
                                features.T @ (w[:, None] * Y) / n).T
        _, gradient, _ = objective(squared, theta, features, penalty, Y, w)
        assert np.linalg.norm(gradient) < 1e-12
        return theta

    def split(theta):
        return {"W": theta[:, :d].tolist(), "b": theta[:, d].tolist()}

    def centred(theta):
        scores = with_one @ theta.T
        return {"W": theta[:, :d].tolist(),
                "centred_scores": (scores - scores.mean(axis=1, keepdims=True)).tolist()}

    golden = {"samples": n, "atoms": d, "classes": C, "nu": nu, "codes": codes.tolist(),
              "labels": labels.tolist(), "weights": weights.tolist()}
    for suffix, w in (("", uniform), ("_weighted", weights)):
        golden["squared" + suffix] = split(ridge(with_one, penalty, w))
        golden["squared_no_intercept" + suffix] = {"W": ridge(codes, penalty[:d], w).tolist()}
        golden["softmax" + suffix] = centred(newton(softmax, with_one, penalty, Y, w))
        golden["squared_hinge" + suffix] = split(newton(squared_hinge, with_one, penalty, Y, w))
    return golden


# --- files --------------------------------------------------------------------------------------------

def write(path, golden, note=""):
    """One top-level key per line; floats in repr form, so that they read back bit for bit."""
    lines = (f"{json.dumps(key)}: {json.dumps(value, separators=(',', ':'))}"
             for key, value in golden.items())
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    print(f"{path}  {path.stat().st_size} bytes  {note}".rstrip())


def main():
    default = Path(__file__).resolve().parent.parent / "tests" / "golden"
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else default
    folder.mkdir(parents=True, exist_ok=True)
    for i, (kernel, S, lambda2) in enumerate(product(KERNELS, (1, 4), (0, 0.01))):
        golden, note = first_suitable(
            lambda seed: run_algorithm1(kernel, S, lambda2, seed), 1000 * (i + 1))
        write(folder / f"algorithm1_{golden['case']}.json", golden, note)
    write(folder / "unsupervised.json", {"cases": [
        first_suitable(lambda seed: run_unsupervised(kernel, 4, 0, seed), 50_000 + 1000 * i)
        for i, kernel in enumerate(KERNELS)]})
    write(folder / "ridge.json", run_ridge(60_000))


if __name__ == "__main__":
    main()
