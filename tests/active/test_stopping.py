import numpy as np
import pytest

from refpair.active import Budget, LowGain, Round, StablePredictions, reason_to_stop


def rounds(costs=None, predictions=None, n=30):
    costs = [None] * n if costs is None else costs
    predictions = [None] * n if predictions is None else predictions
    return [
        Round(20 + i, predicted, cost)
        for i, (cost, predicted) in enumerate(zip(costs, predictions, strict=True))
    ]


def test_a_budget():
    assert Budget(50).reason([]) is None
    assert Budget(50).reason(rounds()) is None
    assert Budget(49).reason(rounds()) == "The budget is used up: 49 of 49 rows have labels."
    assert "60 of 49 rows" in Budget(49).reason([Round(60)])
    with pytest.raises(ValueError, match="n_labeled must be at least 1, not 0"):
        Budget(0)


def test_stable_predictions():
    rng = np.random.default_rng(0)
    same = np.array([[0, 1], [1, 1], [0, 0], [1, 0]])
    rule = StablePredictions("hamming", tolerance=0.02, n_rounds=5)
    with pytest.raises(ValueError, match="StablePredictions needs a cost of label vectors"):
        StablePredictions("macro_f1")
    assert rule.reason(rounds()) is None  # of unknown predictions nothing can be said
    assert rule.reason(rounds(predictions=[same] * 5, n=5)) is None  # five predictions, four changes
    assert "changed by 0 (hamming), at most 0.02" in rule.reason(rounds(predictions=[same] * 6, n=6))
    changing = [rng.integers(0, 2, (4, 2)) for _ in range(30)]
    assert rule.reason(rounds(predictions=changing)) is None
    assert rule.reason(rounds(predictions=changing[:24] + [same] * 6)) is not None
    one_label = same.copy()
    one_label[0, 0] = 1
    once = [same] * 5 + [one_label]  # 1/8 in one of five rounds: 0.025 in the mean
    assert rule.reason(rounds(predictions=once, n=6)) is None
    assert (
        StablePredictions("hamming", tolerance=0.03, n_rounds=5).reason(rounds(predictions=once, n=6))
        is not None
    )
    with pytest.raises(ValueError, match="unknown cost"):
        StablePredictions("speed")
    with pytest.raises(ValueError, match="n_rounds must be at least 1, not 0"):
        StablePredictions(n_rounds=0)


def test_little_to_gain():
    rule = LowGain(0.1, n_rounds=10)
    assert rule.reason(rounds()) is None
    assert rule.reason(rounds(costs=[1.0] * 19, n=19)) is None
    assert "fell by 0 %, where a fall of 10 % was hoped for" in rule.reason(rounds(costs=[1.0] * 20, n=20))
    assert rule.reason(rounds(costs=[1.0] * 10 + [0.8] * 10, n=20)) is None
    assert "rose by 20 %" in rule.reason(rounds(costs=[1.0] * 10 + [1.2] * 10, n=20))
    once = [1.0] * 9 + [0.1] + [0.75] * 10  # one round that looked better by chance does not end it
    assert rule.reason(rounds(costs=once, n=20)) is None
    assert rule.reason(rounds(costs=[0.0] * 20, n=20)) is not None
    with pytest.raises(ValueError, match="tolerance must be at least 0, not -1"):
        LowGain(-1)


def test_the_first_reason_counts():
    assert reason_to_stop([], rounds()) is None
    assert reason_to_stop([Budget(100), LowGain(0.1, n_rounds=10)], rounds(costs=[1.0] * 30)).startswith(
        "There is little"
    )
    assert reason_to_stop([Budget(100)], rounds()) is None
