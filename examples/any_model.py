"""Decide for a cost with any scikit-learn model that predicts probabilities."""

from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier

from refpair import BayesDecisionClassifier, Cost, get_cost
from refpair.datasets import load_dataset


def main() -> None:
    """Compare the predictions of two models with the best decisions for three costs."""
    digits = load_dataset("digits")
    X, Y, X_test, Y_test = digits.X[:1500], digits.Y[:1500], digits.X[1500:], digits.Y[1500:]
    costs = [get_cost("f1"), get_cost("f2"), Cost.per_label(false_negative=5, name="missed costs 5")]
    for model in (RandomForestClassifier(100, random_state=0), ExtraTreesClassifier(100, random_state=0)):
        print(type(model).__name__)
        plain = model.fit(X, Y).predict(X_test).astype(int)
        for cost in costs:
            decided = BayesDecisionClassifier(model, cost=cost, random_state=0).fit(X, Y).predict(X_test)
            before, after = cost.mean(Y_test, plain), cost.mean(Y_test, decided)
            better = "higher" if cost.greater_is_better else "lower"
            print(f"  {cost.name:16}{before:.3f} predicted, {after:.3f} decided ({better} is better)")


if __name__ == "__main__":
    main()
