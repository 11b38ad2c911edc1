"""Files that hold anything at all: they give answers or a ValueError, and nothing else."""

from __future__ import annotations

import copy
import json
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from refpair.labeling.label_studio import read_export

EXPORTS = Path(__file__).parent / "label_studio"
REAL_NAMES = ["joy", "R & B", 'say "hi" <b>', "漢字", "1", " two\nlines "]
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=5)
    | st.integers(10**400, 10**401),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
REAL = json.loads((EXPORTS / "export_snapshot.json").read_text())


def places(value, path=()):
    """All places in a JSON value."""
    yield path
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in parts:
        yield from places(part, (*path, key))


PLACES = [place for place in places(REAL) if place]
hostile = settings(
    max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def read_whatever_it_is(path):
    """Read it, and return the error's message, which is to name the file."""
    try:
        annotations = read_export(path, REAL_NAMES)
    except ValueError as error:
        return str(error)
    else:
        assert {one.kind for one in annotations} <= {"labels", "skip"}
        assert all(type(one.id) in (int, str) for one in annotations)
        return str(path)


@hostile
@given(JSON)
def test_any_json_gives_answers_or_a_value_error(tmp_path, value):
    path = tmp_path / "any.json"
    path.write_text(json.dumps(value))
    assert str(path) in read_whatever_it_is(path)


@hostile
@given(st.sampled_from(PLACES), JSON, st.booleans())
def test_a_damaged_export_gives_answers_or_a_value_error(tmp_path, place, value, removed):
    damaged = copy.deepcopy(REAL)
    *way, last = place
    inside = damaged
    for key in way:
        inside = inside[key]
    if removed:
        del inside[last]
    else:
        inside[last] = value
    path = tmp_path / "damaged.json"
    path.write_text(json.dumps(damaged))
    assert str(path) in read_whatever_it_is(path)


@hostile
@given(st.integers(0, (EXPORTS / "export.json").stat().st_size - 1), st.binary(max_size=4))
def test_a_broken_file_gives_answers_or_a_value_error(tmp_path, cut, rest):
    path = tmp_path / "broken.json"
    path.write_bytes((EXPORTS / "export.json").read_bytes()[:cut] + rest)
    assert str(path) in read_whatever_it_is(path)
