"""The way of a default fit and predict through the package: short, and never back to where it was.

A module is on the way if a function of it runs. Kernels are where the way ends; what they call is compiled.
"""

import sys

import numpy as np
import pytest
from numba.core.registry import CPUDispatcher

from refpair import CSRPEClassifier

MOST_MODULES = 34  # of them 12 are the sources, and what learns them
RUNNER = "refpair._parallel"  # calls back what it is given to run: a loop, not a visit


class Walk:
    """Notes which modules run, and which are left for another one that calls back into them."""

    def __init__(self):
        self.modules = []
        self.back = {}

    def __enter__(self):
        sys.setprofile(self.note)
        return self

    def __exit__(self, *_):
        sys.setprofile(None)

    def note(self, frame, event, _):
        name = own_module(frame)
        if event != "call" or name is None:
            return
        if name not in self.modules:
            self.modules.append(name)
        stack = []
        while frame is not None:
            outer = own_module(frame)
            if outer not in (None, RUNNER) and (not stack or stack[-1] != outer):
                stack.append(outer)
            frame = frame.f_back
        for module in stack:
            if stack.count(module) > 1:
                self.back.setdefault(module, " ← ".join(stack))


def own_module(frame):
    """Return the module of a frame if it is one of the package outside the kernels."""
    name = frame.f_globals.get("__name__", "")
    return name if name.startswith("refpair") and not name.startswith("refpair._kernels") else None


def kernels_called(run):
    """Return the modules of the kernels that are called from Python."""
    called, found = set(), []

    def noting(kernel):
        def call(*given):
            called.add(kernel.__module__)
            return kernel(*given)

        return call

    with pytest.MonkeyPatch.context() as patch:
        for name, module in list(sys.modules.items()):
            if name.startswith("refpair"):
                found += [
                    (module, key, one) for key, one in vars(module).items() if isinstance(one, CPUDispatcher)
                ]
        for module, key, kernel in found:
            patch.setattr(module, key, noting(kernel))
        run()
    return called


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.random((120, 6))
    return X, (X[:, :4] + 0.3 * rng.random((120, 4)) > 0.6).astype(int)


def told(walk):
    return "\n".join(walk.modules + [f"{module} again: {way}" for module, way in walk.back.items()])


def test_from_the_call_to_the_kernels_and_back(data):
    X, Y = data
    model = CSRPEClassifier("f1", n_bits=60, random_state=0)
    model.fit(X, Y).predict(X)  # compiles
    with Walk() as fit:
        model.fit(X, Y)
    with Walk() as predict:
        model.predict(X)
    for walk in (fit, predict):
        assert not walk.back, told(walk)
    assert len({*fit.modules, *predict.modules}) <= MOST_MODULES, told(fit) + "\n\n" + told(predict)
    assert len(predict.modules) <= 21, told(predict)


def test_the_way_ends_at_few_kernels(data):
    X, Y = data
    model = CSRPEClassifier("f1", n_bits=60, random_state=0).fit(X, Y)
    called = kernels_called(lambda: model.fit(X, Y).predict(X))
    assert 1 < len(called) <= 9, sorted(called)
    assert all(name.startswith("refpair._kernels.") for name in called)


def test_a_walk_that_comes_back_is_seen():
    """The note-taker itself: a class whose method is called back by the base of another module."""
    there = Walk()

    class Frame:
        def __init__(self, name, back=None):
            self.f_globals, self.f_back = {"__name__": name}, back

    base = Frame("refpair.classifiers._base", Frame("refpair.classifiers.csrpe"))
    there.note(Frame("refpair.classifiers.csrpe", base), "call", None)
    assert list(there.back) == ["refpair.classifiers.csrpe"]
    chunk = Frame("refpair.decision.decide", Frame(RUNNER, Frame("refpair.decision.decide")))
    loop = Walk()
    loop.note(chunk, "call", None)
    assert not loop.back
    assert loop.modules == ["refpair.decision.decide"]
