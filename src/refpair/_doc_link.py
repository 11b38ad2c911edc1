"""The link to the documentation that scikit-learn shows with an estimator in a notebook."""

from __future__ import annotations

from typing import ClassVar

DOCUMENTATION = "https://refpair.readthedocs.io"


class DocLinked:
    """An estimator whose class is on a page of the API reference; it goes before ``BaseEstimator``."""

    _doc_page: ClassVar[str]  # in docs/api, without its ending
    _doc_package: ClassVar[str] = "refpair"  # what the page says the class is imported from
    _doc_link_module = "refpair"
    _doc_link_template = f"{DOCUMENTATION}/page/api/{{page}}.html#{{package}}.{{name}}"  # the newest release

    def _doc_link_url_param_generator(self) -> dict[str, str]:
        return {"page": self._doc_page, "package": self._doc_package, "name": type(self).__name__}
