"""Texts: a pipeline of TF-IDF and CSRPE, with a grid search over both."""

import numpy as np
import pandas as pd
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline

from refpair import CSRPEClassifier

WORDS = {
    "spam": ["win", "prize", "free", "winner"],
    "fraud": ["account", "password", "transfer", "verify"],
    "urgent": ["today", "now", "deadline", "asap"],
}
OTHER = ["hello", "meeting", "lunch", "report", "paper", "thanks", "please", "attached", "monday", "team"]


def make_mails(n: int, seed: int) -> pd.DataFrame:
    """Make mails whose words mostly match their labels."""
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(n):
        labels = {label: int(rng.random() < 0.3) for label in WORDS}
        words = list(rng.choice(OTHER, 6))
        for label, there in labels.items():
            words += list(rng.choice(WORDS[label], rng.integers(1, 3) if there else int(rng.random() < 0.15)))
        rows.append({"text": " ".join(rng.permutation(words))} | labels)
    return pd.DataFrame(rows)


def main() -> None:
    """Search, and predict the labels of a few new mails."""
    mails, new = make_mails(500, seed=0), make_mails(300, seed=1)
    labels = list(WORDS)
    pipeline = Pipeline([("words", TfidfVectorizer()), ("csrpe", CSRPEClassifier("f1", random_state=0))])
    grid = {"words__binary": [False, True], "csrpe__min_samples_leaf": [1, 5]}
    search = GridSearchCV(pipeline, grid, cv=3).fit(mails["text"], mails[labels])
    print("best:", search.best_params_)
    print(f"F1 in cross-validation {search.best_score_:.2f}")
    print(f"F1 on new mails {search.score(new['text'], new[labels]):.2f}")
    answers = search.predict(new["text"][:3])
    for text, (_, row) in zip(new["text"], answers.iterrows(), strict=False):
        print(f"{', '.join(row.index[row == 1]) or 'none':16}{text}")


if __name__ == "__main__":
    main()
