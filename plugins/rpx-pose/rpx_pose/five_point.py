"""Essential matrices from five matches, many samples at a time.

The null space of the five linear equations is E = x·X + y·Y + z·Z + W; that E is essential gives
ten cubics in x, y and z, and multiplication by x in their quotient ring an eigenvalue problem.
H. Stewénius, C. Engels, D. Nistér, Recent developments on direct relative orientation, ISPRS J.
60(4), 2006. Unlike eight points, five are enough on a plane.
"""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_X, _Y, _Z, _ONE = range(4)
# Monomials as sorted triples of factors: ten cubic ones, then x², xy, xz, y², yz, z², x, y, z, 1.
_CUBIC = tuple(itertools.combinations_with_replacement((_X, _Y, _Z), 3))
_LOWER = tuple(
    (*pair, _ONE) for pair in itertools.combinations_with_replacement((_X, _Y, _Z), 2)
) + tuple((factor, _ONE, _ONE) for factor in (_X, _Y, _Z, _ONE))
_MONOMIALS: tuple[tuple[int, ...], ...] = (*_CUBIC, *_LOWER)
_ROW = {monomial: row for row, monomial in enumerate(_MONOMIALS)}
_REAL = 1e-8
"""Relative imaginary part up to which an eigenvalue counts as real."""
_STABLE = 1e12
"""Coefficients beyond this come from a degenerate sample."""


def solve_five_points(rays0: Floats, rays1: Floats) -> Floats:
    """All essential matrices (k, 3, 3) of samples (s, 5, 2), in coordinates at depth 1.

    x1ᵀ·E·x0 = 0 for the matches of one sample. A sample gives up to ten, a degenerate one none.
    """
    ones = np.ones((*rays0.shape[:-1], 1))
    x0, x1 = (np.concatenate([rays, ones], axis=-1) for rays in (rays0, rays1))
    system = (x1[..., :, None] * x0[..., None, :]).reshape(len(rays0), 5, 9)
    _, _, vectors = np.linalg.svd(system)
    basis = vectors[:, 5:].reshape(-1, 4, 3, 3).transpose(0, 2, 3, 1)
    constraints = _constraints(basis)
    leading = constraints[..., : len(_CUBIC)]
    usable = np.abs(np.linalg.det(leading)) > 0
    basis = basis[usable]
    reduced = -np.linalg.solve(leading[usable], constraints[usable][..., len(_CUBIC) :])
    stable = (np.abs(reduced) < _STABLE).all(axis=(1, 2))
    basis, reduced = basis[stable], reduced[stable]
    values, vectors = np.linalg.eig(_multiplication(reduced))
    real = np.abs(values.imag) <= _REAL * np.maximum(np.abs(values.real), 1)
    sample, which = np.nonzero(real)
    solution = vectors[sample, :, which].real
    kept = np.abs(solution[:, -1]) > np.finfo(np.float64).tiny
    places = solution[kept][:, -4:] / solution[kept][:, -1:]
    essentials = np.einsum("kija,ka->kij", basis[sample[kept]], places)
    norms = np.linalg.norm(essentials, axis=(1, 2), keepdims=True)
    return np.asarray(essentials / norms)


def _constraints(basis: Floats) -> Floats:
    """Coefficients (s, 10, 20) of det E = 0 and 2·E·Eᵀ·E - tr(E·Eᵀ)·E = 0."""
    square = np.einsum("sija,skjb->sikab", basis, basis)
    trace = np.einsum("siiab->sab", square)
    cubic = 2 * np.einsum("sikab,skjc->sijabc", square, basis)
    cubic -= np.einsum("sab,sijc->sijabc", trace, basis)
    cross = np.stack(
        [
            np.einsum("sa,sb->sab", basis[:, 1, i], basis[:, 2, j])
            - np.einsum("sa,sb->sab", basis[:, 1, j], basis[:, 2, i])
            for i, j in ((1, 2), (2, 0), (0, 1))
        ],
        axis=1,
    )
    determinant = np.einsum("sic,siab->sabc", basis[:, 0], cross)
    stacked = np.concatenate([determinant[:, None], cubic.reshape(len(basis), 9, 4, 4, 4)], axis=1)
    return np.asarray(stacked.reshape(len(basis), 10, 64) @ _collapse())


def _collapse() -> Floats:
    """The matrix (64, 20) that adds up products of three factors by monomial."""
    matrix = np.zeros((64, len(_ROW)))
    for place, factors in enumerate(itertools.product(range(4), repeat=3)):
        matrix[place, _ROW[tuple(sorted(factors))]] = 1
    return matrix


def _multiplication(reduced: Floats) -> Floats:
    """The matrices (s, 10, 10) of multiplication by x on the monomials that are not cubic.

    Row r of `reduced` writes cubic monomial r in the others.
    """
    matrix = np.zeros((len(reduced), len(_LOWER), len(_LOWER)))
    for row, monomial in enumerate(_LOWER):
        product = _ROW[tuple(sorted((_X, *_drop_one(monomial))))]
        if product < len(_CUBIC):
            matrix[:, row] = reduced[:, product]
        else:
            matrix[:, row, product - len(_CUBIC)] = 1
    return matrix


def _drop_one(monomial: tuple[int, ...]) -> tuple[int, ...]:
    """A monomial that is not cubic without one of its factors 1, which sort last."""
    return monomial[:-1]
