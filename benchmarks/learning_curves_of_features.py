"""Learning curves of words and of Python code beside the theories, in per cent of the variance.

    python benchmarks/learning_curves_of_features.py words stdlib \\
      | python docs/quote_results.py --keep learn-words,learn-some-words,learn-stdlib,learn-half-stdlib

``theory`` (``--keep learn-theory``) has the latents and the sentences beside ``sl.EmpiricalInputs``.

``words`` needs the sentences of film reviews (--data ../shared/data/features); its second table has a random
sixteenth of the words, that of ``stdlib`` a random half of the tokens. Some minutes.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from scipy import sparse

import sparselaw as sl
from sparselaw.interval import Interval
from sparselaw.measuring.counting import load
from sparselaw.measuring.nonzeros import Values
from sparselaw.measuring.readers.base import Reading

THEORIES = ("unseen", "sparse", "cavity", "gaussian")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("sets", nargs="+", choices=("words", "stdlib", "theory"))
    parser.add_argument("--data", type=Path, default=Path("../shared/data/features"))
    given = parser.parse_args()
    if "words" in given.sets:
        x = sparse.load_npz(given.data / "review_sentences.npz")
        show(sl.learn(given.data / "review_sentences.npz", N=[]))
        some = x.tocsc()[:, np.random.default_rng(1).random(x.shape[1]) < 1 / 16].tocsr()
        show(sl.learn(some, D=[256, 1024, 4096], N=[], seeds=10), ends=True)
    if "stdlib" in given.sets:
        show(sl.learn("stdlib", D=[64, 256, 1024], N=[16], seeds=2))
        x = load("stdlib", values=Values(), reading=Reading()).x.tocsr()
        half = x[:, np.sort(np.random.default_rng(0).permutation(x.shape[1])[: x.shape[1] // 2])]
        show(sl.learn(half[np.diff(half.indptr) > 0], D=[16, 64, 256, 1024, 2048], N=[], seeds=2))
    if "theory" in given.sets:
        print("| features | D | `learn` | `EmpiricalInputs` |\n|---|---|---|---|")
        beside_theory("latents", given.data / "sae_charlm_20000x1024.npz", [32, 128, 512])
        beside_theory("words", given.data / "review_sentences.npz", [32, 128, 512, 2048])


def beside_theory(name: str, path: Path, sizes: list[int]) -> None:
    inputs, x = sl.EmpiricalInputs.from_file(path), sparse.load_npz(path).astype(np.float64)
    total = x.multiply(x).sum() / x.shape[0]
    for point in sl.learn(path, D=sizes, N=[], seeds=8).curve:
        share = float(sl.predict(inputs, N=np.inf, D=point.D).loss) / total
        print(f"| {name} | {point.D:,} | {percent(point.measured, True)} | {100.0 * share:.1f} |", flush=True)


def show(found: sl.LearningCurve, ends: bool = False) -> None:
    names = ["measured", *([] if ends else ["random signs"]), *THEORIES]
    print(f"| D | K/D | {' | '.join(names)} |")
    print("|---" * (len(names) + 2) + "|")
    for point in found.curve:
        measured = [percent(point.measured, ends)] + ([] if ends else [percent(point.signs)])
        cells = [*measured, *(f"{100.0 * getattr(point, name):.1f}" for name in THEORIES)]
        share = point.K / point.D
        print(f"| {point.D:,} | {share:.{1 if share > 2.0 else 2}f} | {' | '.join(cells)} |", flush=True)
    print()


def percent(share: Interval, ends: bool = False) -> str:
    low, best, high = (f"{100.0 * value:.1f}" for value in (share.low, share.best, share.high))
    return f"{best} [{low}, {high}]" if ends else best


if __name__ == "__main__":
    main()
