"""Every public function says what each argument is, what it returns and refuses, and shows an example."""

import inspect
import re

import pytest

import sparselaw as sl

FUNCTIONS = {name: value for name in sl.__all__ if inspect.isfunction(value := getattr(sl, name))}
SECTIONS = ("Parameters", "Returns", "Raises", "Examples")


def sections(function):
    """The sections of a docstring by their name."""
    parts = re.split(r"^(\w+)\n-{3,}\n", inspect.getdoc(function) or "", flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def described(text):
    """The arguments of a section, each with what is said of it: ``a, b : type`` and indented lines."""
    found = {}
    for names, words in re.findall(
        r"^(\S[^\n:]*)(?: : [^\n]*)?\n((?:[ \t]+[^\n]+\n?|\n)+)", text, re.MULTILINE
    ):
        for name in names.split(","):
            found[name.strip().lstrip("*")] = words.strip()
    return found


def missing(function):
    found = sections(function)
    lacking = [section for section in SECTIONS if not found.get(section, "").strip()]
    told = described(found.get("Parameters", ""))
    lacking += [name for name in inspect.signature(function).parameters if len(told.get(name, "")) < 8]
    lacking += [
        f"{name} is no argument" for name in told if name not in inspect.signature(function).parameters
    ]
    return lacking


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_every_argument_is_described(name):
    assert not missing(FUNCTIONS[name])


CLASSES = (sl.SparseInputs, sl.DenseInputs, sl.TabulatedInputs, sl.EmpiricalInputs, sl.MinNorm, sl.Ridge)
CLASSES += (sl.GradientDescent, sl.Nesterov, sl.SGD, sl.Network, sl.Adam)


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_every_argument_of_what_users_construct_is_described(kind):
    told = described(sections(kind).get("Parameters", ""))
    assert sorted(told) == sorted(inspect.signature(kind).parameters)
    assert all(len(words) > 8 for words in told.values())


def test_an_argument_left_out_is_seen():
    def half(a, b):
        """Do something.

        Parameters
        ----------
        a : int
            The first of the two.

        Returns
        -------
        int
            Their sum.

        Raises
        ------
        InputError
            Never.

        Examples
        --------
        >>> half(1, 2)
        3
        """
        return a + b

    assert missing(half) == ["b"]
    half.__doc__ = half.__doc__.replace("a : int", "a, b : int")
    assert missing(half) == []
    half.__doc__ = half.__doc__.replace("Raises", "Refuses")
    assert missing(half) == ["Raises"]
