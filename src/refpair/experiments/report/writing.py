"""Write a report: a page of HTML, the same in Markdown, a file for each table and each figure."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath

from refpair._files import written_whole
from refpair.experiments.report.about import About
from refpair.experiments.report.figures import figure_svg
from refpair.experiments.report.pages import html_page, markdown_page
from refpair.experiments.report.sections import Section, SectionFigure

__all__ = ["write_report"]

_LIST = ".report-files"
_FOLDERS = (PurePosixPath(), PurePosixPath("figures"))


def write_report(folder: Path, title: str, sections: Sequence[Section], *, about: About) -> None:
    """Write ``report.html``, ``report.md``, a ``.csv`` and a ``.tex`` file for each table, and the figures.

    Without matplotlib there are no figures, and the report says how to get them. A file that is there already
    is replaced at once, so that a reader never sees half of one. ``.report-files`` lists what was written:
    the next report removes what it does not write again.

    Parameters
    ----------
    folder : Path
        Made if it is not there. Figures go to ``figures`` in it.
    title : str
        Of the report.
    sections : sequence of Section
        What it is made of; see :func:`compare_section`, :func:`code_length_section` and
        :func:`relevant_set_section`.
    about : About
        Where the results come from.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> about = About("refpair", ["a laptop"], "3000 bits", [0], {}, n_results=0)
    >>> with TemporaryDirectory() as folder:
    ...     write_report(Path(folder), "Results", [Section("Scores", ["All is well."])], about=about)
    ...     sorted(file.name for file in Path(folder).iterdir())
    ['.report-files', 'report.html', 'report.md']
    """
    used: set[str] = set()
    sections = [_name_apart(section, used) for section in sections]
    warnings, svg = about.warnings(), {}
    try:
        svg = {figure.name: figure_svg(figure.draw, f"figure-{figure.name}") for figure in _figures(sections)}
    except ImportError as error:
        warnings.append(f"There are no figures: {error}")
    files = dict(_files(sections, svg))
    files["report.md"] = markdown_page(title, sections, about, warnings, svg)
    files["report.html"] = html_page(title, sections, about, warnings, svg)
    for name, text in files.items():
        _write(folder / name, text)
    _remove_former(folder, keep=files)
    _write(folder / _LIST, "".join(f"{name}\n" for name in sorted(files)))


def _files(sections: Sequence[Section], svg: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the files of tables and figures: where they go in the folder of the report, and their text."""
    for section in _all_sections(sections):
        for table in section.tables:
            yield f"{table.name}.csv", table.to_csv()
            yield f"{table.name}.tex", table.to_latex()
    for name, picture in svg.items():
        yield f"figures/{name}.svg", f'<?xml version="1.0" encoding="utf-8"?>\n{picture}'


def _remove_former(folder: Path, keep: Collection[str]) -> None:
    """Remove the files of the report before that are not of this one: a reader would take them for new."""
    former = folder / _LIST
    names = former.read_text(encoding="utf-8").splitlines() if former.exists() else []
    kept = {name.casefold() for name in keep}  # not all file systems tell capitals
    for name in names:
        # Whatever the list says, nothing elsewhere.
        if name.casefold() not in kept and PurePosixPath(name).parent in _FOLDERS:
            (folder / name).unlink(missing_ok=True)


def _write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    with written_whole(file) as stream:
        stream.write(text.encode())


def _all_sections(sections: Sequence[Section]) -> Iterator[Section]:
    for section in sections:
        yield section
        yield from _all_sections(section.parts)


def _figures(sections: Sequence[Section]) -> Iterator[SectionFigure]:
    for section in _all_sections(sections):
        yield from section.figures


def _name_apart(section: Section, used: set[str]) -> Section:
    """Give tables and figures names of their own: those of two costs may differ only in signs."""
    return replace(
        section,
        tables=[replace(table, name=_new_name(table.name, "table", used)) for table in section.tables],
        figures=[replace(figure, name=_new_name(figure.name, "figure", used)) for figure in section.figures],
        parts=[_name_apart(part, used) for part in section.parts],
    )


def _new_name(name: str, kind: str, used: set[str]) -> str:
    found, number = name, 1
    while f"{kind} {found.casefold()}" in used:  # as in _remove_former
        number += 1
        found = f"{name}-{number}"
    used.add(f"{kind} {found.casefold()}")
    return found
