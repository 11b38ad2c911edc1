"""Results as experiments give them, made up."""

import pandas as pd

ALGORITHMS = ["BR", "RAkEL", "HAMR", "CC", "PCC", "CFT", "CSRPE-nearest", "CSRPE-posterior"]
DIRECTIONS = {"f1": True, "accuracy": True, "hamming": False, "rank": False}
N_TRAIN = 80


def made_results(scores, n_bits=0, cost="f1", data="emotions"):
    """Results of a data set by algorithm (or by length), each with the score of each split."""
    rows = [
        {"data": data, "cost": cost, "algorithm": algorithm, "n_bits": n_bits, "split": split, "score": score}
        for algorithm, of_split in scores.items()
        for split, score in of_split.items()
    ]
    return pd.DataFrame(rows)


def lengths_frame(by_length, algorithm="CSRPE-posterior", cost="f1"):
    frames = [made_results({algorithm: scores}, n_bits, cost) for n_bits, scores in by_length.items()]
    return pd.concat(frames, ignore_index=True)


def legend_of(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]
