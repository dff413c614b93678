"""Loss curves whose end is known: of the law itself with correlated noise, and of SGD on power-law features.

And the law summed step by step, and the error of a prediction by explicit matrices.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import block_diag

from sparselaw.curves.estimate import SCALES, covariance, places, scaled
from sparselaw.curves.law import FeatureForm, Units, track
from sparselaw.curves.schedules import written_schedule
from sparselaw.inputs import DenseInputs

WHITE = 3e-4
LOGGED = 100  # steps between logged losses


def by_steps(values, rates, last):
    """The law after each of ``last`` steps, every step a change of rate of its own.

    ``values`` has E, A, a, B, c, p, m, r in units eta0 = tau0 = 1; ``rates`` are those of the steps 1, 2, ...
    """
    E, A, a, B, c, p, m, r = (values[name] for name in ("E", "A", "a", "B", "c", "p", "m", "r"))
    tau = np.cumsum(rates[:last])
    V = np.concatenate(([0.0], rates[:last] ** p))
    begun = np.concatenate(([0.0], tau[:-1]))  # tau at the beginning of each step
    loss = np.empty(last)
    for t in range(last):
        age = tau[t] - begun[: t + 1]
        noise = np.sum(np.diff(V)[: t + 1] * (1.0 - (1.0 + c * age) ** -(r * a)))
        loss[t] = E + A * tau[t] ** -a + B * tau[t] ** -m * noise
    return loss


def error_covariance(fitted, new, joint):
    """Of what is predicted: the law's parameters and residuals as one Gaussian vector, mapped linearly.

    ``new`` are slopes of the new points, ``joint`` the covariance of known and new residuals together.
    """
    n, k = fitted.slopes.shape
    K, cross = joint[:n, :n], joint[n:, :n]
    _, width = fitted.form.priors(fitted.units)
    krige = np.linalg.solve(K, cross.T).T
    answer = fitted.answer
    estimate = np.hstack([answer @ fitted.slopes, answer, np.zeros((k, len(new)))])  # of (theta, known, new)
    left = np.hstack([fitted.slopes, np.eye(n), np.zeros((n, len(new)))]) - fitted.slopes @ estimate
    truth = np.hstack([new, np.zeros((len(new), n)), np.eye(len(new))])
    error = truth - new @ estimate - krige @ left
    return error @ block_diag(np.diag(width**2), joint) @ error.T


def law_curves(seed, shapes, peak=3e-4, warmup=1_000):
    """(step, rate, loss, end without white noise) of each shape, by one law drawn from its priors."""
    generator = np.random.Generator(np.random.PCG64(seed))
    form = FeatureForm(free=True)
    schedules = [written_schedule(text, peak=peak, warmup=warmup) for text in shapes]
    steps = [np.arange(LOGGED, s.last + 1, LOGGED) for s in schedules]
    tracks = [track(s, at, i) for i, (s, at) in enumerate(zip(schedules, steps, strict=True))]
    last = max(float(s.taus[-1]) for s in schedules)
    units = Units(loss=3.0, rate=peak, tau=0.4 * last, last=last)
    centre, width = form.priors(units)
    theta = centre + width * generator.standard_normal(centre.size)
    theta[0] = 0.8 + 0.1 * generator.standard_normal()
    scales = np.exp(SCALES[0] + SCALES[1] * generator.standard_normal(3))
    parts = [form.parts(theta, t, units) for t in tracks]
    mean = np.concatenate([p[0] for p in parts])
    where = places(tracks, np.concatenate([p[1] for p in parts]) / mean, units)
    K = scaled(covariance(where, where, False), scales)
    K[np.diag_indices_from(K)] += 1e-12
    smooth = mean * np.exp(np.linalg.cholesky(K) @ generator.standard_normal(mean.size))
    noisy = smooth * np.exp(WHITE * generator.standard_normal(mean.size))
    ends = np.cumsum([t.step.size for t in tracks])
    return [
        (t.step, t.schedule.rate(t.step), noisy[end - t.step.size : end], float(smooth[end - 1]))
        for t, end in zip(tracks, ends, strict=True)
    ]


def sgd_curves(seed, shapes, alpha=0.7, dimension=200, batch=16, noise=1.0, peak=0.2, warmup=200, logged=20):
    """Loss of SGD on Gaussian features of power-law variances, a teacher of ones and noisy labels.

    The population loss at logged steps of one run, with the noise of the labels in it, so that it has a
    floor; and the expected loss, at the end and at these steps, by the exact recursion of second moments.
    """
    variances = DenseInputs(alpha=alpha, dimension=dimension).variances(np.arange(1.0, dimension + 1.0))
    found = []
    for i, text in enumerate(shapes):
        generator = np.random.Generator(np.random.PCG64([seed, i]))
        schedule = written_schedule(text, peak=peak, warmup=warmup)
        last = int(schedule.last)
        rates = schedule.rate(np.arange(1, last + 1) - 0.5)
        root, missing, losses = np.sqrt(variances), np.ones(dimension), []
        for t in range(last):
            x = root * generator.standard_normal((batch, dimension))
            error = x @ missing + np.sqrt(noise) * generator.standard_normal(batch)
            missing -= rates[t] / batch * (error @ x)
            if (t + 1) % logged == 0:
                losses.append(float(variances @ missing**2 + noise))
        moments, means = np.ones(dimension), []
        for eta in rates:
            expected = variances @ moments + noise
            kept = 1.0 - 2.0 * eta * variances + eta**2 * variances**2 * (1.0 + 1.0 / batch)
            moments = kept * moments + eta**2 / batch * variances * expected
            means.append(float(variances @ moments + noise))
        step = np.arange(logged, last + 1, logged, dtype=np.float64)
        found.append(
            (step, schedule.rate(step), np.array(losses), means[-1], np.array(means[logged - 1 :: logged]))
        )
    return found
