"""Benchmark rows of the optimization chapter: quadratic programs, beside what SciPy offers."""

import numpy as np
from harness import row

from mlnotes.optimization import box, solve_qp


def polyhedron(rng, d, m):
    """c (d,), G and h of m constraints in d variables for which c^T x has a minimum."""
    x, G = rng.normal(size=d), rng.normal(size=(m, d))
    return G.T @ rng.random(m), G, G @ x - rng.random(m)


@row("bounded least squares, 2,000 x 200 (SciPy)", objective="||y - X w||^2")
def bounded_least_squares():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 200))
    y = X @ rng.normal(size=200) + rng.normal(size=2000)
    lower, upper = np.zeros(200), np.full(200, 0.5)

    def ours():
        return solve_qp(X.T @ X, -X.T @ y, None, None, *box(lower, upper))

    def theirs():
        from scipy.optimize import lsq_linear

        return lsq_linear(X, y, (lower, upper), tol=1e-9)

    return ours, theirs, lambda solution: np.sum((y - X @ solution.x) ** 2)


@row("linear program, 300 constraints x 100 (SciPy's HiGHS)", objective="c^T x")
def linear_program():
    c, G, h = polyhedron(np.random.default_rng(0), d=100, m=300)

    def ours():
        return solve_qp(np.zeros((100, 100)), c, G=G, h=h)

    def theirs():
        from scipy.optimize import linprog

        return linprog(c, -G, -h, bounds=(None, None))

    return ours, theirs, lambda solution: c @ solution.x


@row("quadratic program, 300 constraints x 100 (SciPy's SLSQP)", objective="1/2 x^T P x + q^T x")
def quadratic_program():
    rng = np.random.default_rng(0)
    q, G, h = polyhedron(rng, d=100, m=300)
    B = rng.normal(size=(100, 50))
    P = B @ B.T / 50

    def f(x):
        return x @ P @ x / 2 + q @ x

    def ours():
        return solve_qp(P, q, G=G, h=h)

    def theirs():
        from scipy.optimize import minimize

        feasible = {"type": "ineq", "fun": lambda x: G @ x - h, "jac": lambda x: G}
        return minimize(
            f, np.zeros(100), jac=lambda x: P @ x + q, constraints=feasible, method="SLSQP",
            options={"ftol": 1e-9, "maxiter": 1000},
        )  # fmt: skip

    return ours, theirs, lambda solution: f(solution.x)
