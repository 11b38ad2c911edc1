from __future__ import annotations

import sys

import pytest

from refpair import get_cost
from refpair.experiments.algorithms import ALGORITHMS, find_algorithm
from refpair.experiments.names import code_digest, find_cost, import_object
from refpair.experiments.settings import QUICK, Settings
from tests.experiments import own


def test_a_cost_is_found_by_name_or_in_a_module():
    assert find_cost("rank") == get_cost("rank")
    assert find_cost("tests.experiments.own:misses") is own.misses
    function = find_cost("tests.experiments.own:first_label")
    assert function.rows([[1, 0], [0, 1]], [[0, 0], [0, 0]]).tolist() == [1.0, 0.0]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("haming", "did you mean 'hamming'"),
        (
            "no_such_module:cost",
            r"no module no_such_module; run the command in the folder of no_such_module\.py",
        ),
        ("tests.experiments.own:no_such", "the module tests.experiments.own has no no_such"),
        ("tests.experiments.own:not_callable", "a cost is a name, a Cost or a function, not int"),
        (":cost", "write module:name"),
        ("tests.experiments.own:", "write module:name"),
        ("costs.py:price", "name the module, not its file: costs:price"),
    ],
)
def test_mistakes_in_names_of_costs_are_told(name, message):
    with pytest.raises(ValueError, match=message):
        find_cost(name)


def test_modules_in_the_current_folder_are_found(tmp_path, monkeypatch):
    (tmp_path / "just_here.py").write_text("answer = 42\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [path for path in sys.path if path not in ("", str(tmp_path))])
    assert import_object("just_here:answer") == 42


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("import not_installed_at_all", "ModuleNotFoundError: No module named 'not_installed_at_all'"),
        ("x = [", "SyntaxError: '\\[' was never closed"),
        ("raise RuntimeError('boom')", "RuntimeError: boom"),
    ],
)
def test_why_a_module_cannot_be_imported_is_told(tmp_path, monkeypatch, text, message):
    (tmp_path / "needs_more.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "needs_more", raising=False)
    with pytest.raises(ValueError, match=f"the module needs_more cannot be imported .{message}"):
        import_object("needs_more:x")


def test_the_digest_of_own_code_changes_with_its_file(tmp_path, monkeypatch):
    (tmp_path / "changing.py").write_text("x = 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    before = code_digest("changing:x")
    (tmp_path / "changing.py").write_text("x = 2\n")
    assert code_digest("changing:x") != before
    assert code_digest("f1") == ""
    assert code_digest("math:pi") == code_digest("math:tau"), "without a file there is nothing to change"


def test_the_digest_sees_the_file_that_an_object_is_defined_in(tmp_path, monkeypatch):
    (tmp_path / "shown.py").write_text("from hidden import cost\n")
    (tmp_path / "hidden.py").write_text("def cost(Y, Z):\n    return Y[:, 0]\n")
    monkeypatch.syspath_prepend(tmp_path)
    before = code_digest("shown:cost")
    (tmp_path / "hidden.py").write_text("def cost(Y, Z):\n    return Z[:, 0]\n")
    assert code_digest("shown:cost") != before


@pytest.mark.parametrize("name", ALGORITHMS)
def test_every_algorithm_can_be_made_and_set(name):
    algorithm = ALGORITHMS[name]
    model = algorithm.make(get_cost("rank"), Settings(n_bits=7, n_trees=3), 5)
    assert getattr(model, "n_bits", 7) == 7
    assert getattr(getattr(model, "estimator", None), "n_trees", 3) == 3
    for parameters in algorithm.grid(own.np.zeros((3, 3))):
        model.set_params(**algorithm.draft).set_params(**parameters)


def test_the_filter_tree_has_fewer_rounds_with_many_labels():
    def n_rounds(n_labels, settings):
        return ALGORITHMS["CFT"].make(get_cost("rank"), settings, n_labels).n_rounds

    assert [n_rounds(n, Settings()) for n in (1, 53, 100, 374)] == [8, 8, 5, 2]
    assert n_rounds(6, QUICK) == 2


def test_algorithms_of_the_users_own_are_told_what_they_can_take():
    blind = find_algorithm("tests.experiments.own:Constant")
    assert blind.one_fit
    assert isinstance(blind.make(own.misses, Settings(), 5), own.Constant)
    aware = find_algorithm("tests.experiments.own:Aware")
    assert not aware.one_fit
    assert aware.make(own.misses, Settings(), 5).cost is own.misses


def test_mistakes_in_names_of_algorithms_are_told():
    with pytest.raises(ValueError, match="unknown algorithm 'BBR'; did you mean 'BR'"):
        find_algorithm("BBR")
    with pytest.raises(ValueError, match="not_callable is no class and no function"):
        find_algorithm("tests.experiments.own:not_callable")
    with pytest.raises(ValueError, match="did you mean 'BR'"):
        find_algorithm("br")
    with pytest.raises(ValueError, match="did you mean 'CSRPE-nearest' or 'CSRPE-posterior'"):
        find_algorithm("CSRPE")
    with pytest.raises(
        ValueError, match=r"there are 'BR', .*'CSRPE-posterior'\. For your own, use module:name"
    ):
        find_algorithm("zzz")
    with pytest.raises(ValueError, match="builtins:dict does not tell its arguments"):
        find_algorithm("builtins:dict")


def test_what_a_model_of_the_users_own_calls_decide_is_its_own_affair():
    algorithm = find_algorithm("tests.experiments.own:Decided")
    model = algorithm.make(own.misses, Settings(), 5).fit(own.np.zeros((4, 2)), own.np.eye(4))
    assert algorithm.answer(model, own.np.zeros((3, 2)), own.misses).shape == (3, 4)
