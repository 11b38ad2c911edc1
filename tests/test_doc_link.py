"""What a notebook shows of an estimator: its parameters, and a link to a place in the documentation."""

from __future__ import annotations

import tomllib
from inspect import isabstract
from pathlib import Path

import pytest
from sklearn.base import BaseEstimator
from sklearn.ensemble import RandomForestClassifier

import refpair
from refpair import active
from refpair._doc_link import DOCUMENTATION

ROOT = Path(__file__).parents[1]
PUBLIC = {**{name: getattr(refpair, name) for name in refpair.__all__}, **vars(active)}
ESTIMATORS = {
    name: one
    for name, one in PUBLIC.items()
    if isinstance(one, type) and issubclass(one, BaseEstimator) and not isabstract(one)
}


def make(name):
    try:
        return ESTIMATORS[name]()
    except TypeError:  # one that is made of others
        return ESTIMATORS[name](RandomForestClassifier())


@pytest.mark.parametrize("name", ESTIMATORS)
def test_an_estimator_links_to_the_place_that_tells_of_it(name):
    place = make(name)._get_doc_link().removeprefix(f"{DOCUMENTATION}/page/")
    page, anchor = place.split(".html#")
    assert f"::: {anchor}\n" in (ROOT / "docs" / f"{page}.md").read_text() + "\n"
    assert anchor.endswith(f".{name}")


def test_the_parameters_are_a_table():
    html = refpair.CSRPEClassifier("jaccard", n_bits=200)._repr_html_()
    assert 'href="https://refpair.readthedocs.io/page/api/classifiers.html#refpair.CSRPEClassifier"' in html
    assert "<table" in html
    assert "&#x27;jaccard&#x27;" in html


def test_the_host_is_that_of_the_project():
    urls = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"].get("urls", {})
    assert urls.get("Documentation", DOCUMENTATION).rstrip("/") == DOCUMENTATION


def test_classes_of_users_have_no_page():
    class Own(refpair.CSRPEClassifier):
        pass

    assert Own()._get_doc_link() == ""
