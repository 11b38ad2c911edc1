"""Rules that the answers of a session should keep: whoever answers is told, and may break them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from refpair.decision.rule_set import RuleSet
from refpair.decision.rules import Rule, check_rules, from_dicts, number_of, to_dicts
from refpair.labeling.store import AnswerStore
from refpair.tables.labels import UNKNOWN

_NOTED = "label rules"


def rules_of(given: Any, estimator: Any, store: AnswerStore | None, labels: Sequence[str]) -> list[Rule]:
    """Return the rules that are given, else those of the model or of the file; refuse contradictions."""
    if given is None:
        given = getattr(estimator, "rules", None)
    noted = None if store is None else store.about(_NOTED)
    rules = from_dicts(noted or []) if given is None else check_rules(given)
    found = RuleSet.resolve(rules, labels)
    names = [] if found is None else found.rules
    return [rule.map_labels(lambda label: labels[int(label)]) for rule in names]


def note_rules(store: AnswerStore, rules: Sequence[Rule]) -> None:
    """Write rules to the file of a session."""
    if rules or store.about(_NOTED):
        store.note(_NOTED, to_dicts(rules))


def broken_rules(rules: Sequence[Rule], known: Mapping[str, bool], labels: Sequence[str]) -> list[str]:
    """Return the rules that what is known of a row breaks, whatever its other labels are."""
    if not rules:
        return []
    row = np.full((1, len(labels)), UNKNOWN, np.uint8)
    for name, is_there in known.items():
        row[0, number_of(name, labels)] = is_there
    numbered = tuple(rule.map_labels(lambda label: number_of(label, labels)) for rule in rules)
    is_broken = RuleSet(numbered, len(labels)).broken(row)[0]
    return [str(rule) for rule, broken in zip(rules, is_broken, strict=True) if broken]
