from __future__ import annotations

from refpair._progress import progress, show_left


def test_time_left_goes_by_the_pace():
    assert show_left(10.0, 4, 8) == "0:00:20"
    assert show_left(10.0, 0, 8) == "?"


def test_nothing_is_shown_unless_it_is_asked_for(capsys):
    for visible, shown in ((False, False), (True, True)):
        with progress("baking", 3, verbose=int(visible)) as advance:
            advance(3)
        assert ("baking" in capsys.readouterr().err) == shown
