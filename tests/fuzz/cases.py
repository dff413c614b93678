"""What a hostile input is, and the odd values of which all of them are made."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

NUMBERS = (
    "0", "1", "2", "3", "-1", "0.5", "0.3", "1.5", "-0.5", "1e-12", "1e-310", "1e-300", "1e300", "1e308",
    "1e400",
    "nan", "inf", "-inf", "1e6", "1e9", "1e100", "", " ", "x", "1,2", "0x10", "1_000", "+1", "--1", "1e",
    "٣", "½",
    "1\n2", "\t1", "-0", "0.9999999999", "5e-324", "99999999999999999999", "1e-6", "18", "20", "64",
)  # fmt: skip
SIZES = (
    "1", "2", "4", "8", "16", "64", "4,8", "4,8,16", "4:64:3", "1:1:1", "8:2:3", "4:64:0", "4:64:1e9",
    "4:", ":", "",
    ",", "4,,8", "inf", "4,inf", "0", "-4", "1e2", "1.5", "1e30", "2:1e12:5", "1:1e300:3", "4:64:2:2", "x",
    "4;8",
)  # fmt: skip
WORDS = (
    "", "x", "a\nb", "N", "D", "loss", "sharp", "leading", "all", "min-norm", "ridge", "gd", "sgd", "tanh",
    "relu", "é",
    "N=1e10,D=1e11", "N=10", "a=b", "a>3", "model=x", "'", '"', "\\", "../x", "*", "-", "--", "%s", "{}",
    "\x1b[31m",
    "chinchilla", "coupled", "6nd", "line", "file", "(", "[a-z", "utf-8", "zlib", "latin-1", "characters",
    "words",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A command line with the files that lie in its folder; or a request that is sent to the page."""

    kind: str
    arguments: tuple[str, ...] = ()
    files: dict[str, bytes] = field(default_factory=dict)
    stdin: bytes = b""
    request: tuple[str, str, dict[str, str], bytes] | None = None  # method, path, headers, body


class Draw:
    """Random choices by one seed."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)

    def chance(self, share: float) -> bool:
        return bool(self.rng.random() < share)

    def pick(self, values):
        return values[int(self.rng.integers(len(values)))]

    def some(self, values, most: int) -> list:
        count = int(self.rng.integers(0, min(most, len(values)) + 1))
        return [values[i] for i in self.rng.permutation(len(values))[:count]]

    def whole(self, low: int, high: int) -> int:
        return int(self.rng.integers(low, high))

    def number(self) -> str:
        """A number as a file may have it: ordinary most of the time."""
        if self.chance(0.85):
            return repr(float(np.exp(self.rng.normal(0.0, 4.0))))
        return self.pick(NUMBERS)

    def noise(self, content: bytes) -> bytes:
        """The content cut, with bytes changed, moved or repeated."""
        if not content:
            return content
        for _ in range(self.whole(1, 4)):
            place, length = self.whole(0, len(content)), self.whole(1, 40)
            way = self.whole(0, 6)
            if way == 0:
                content = content[:place]
            elif way == 1:
                content = content[:place] + self.rng.bytes(length) + content[place + length :]
            elif way == 2:
                content = content[:place] + content[place : place + length] * 3 + content[place + length :]
            elif way == 3:
                content = content[:place] + content[place + length :]
            elif way == 4:
                content = content[:place] + bytes(length) + content[place + length :]
            else:
                content = content[:place] + b"\xff" * length + content[place + length :]
            if not content:
                return b""
        return content
