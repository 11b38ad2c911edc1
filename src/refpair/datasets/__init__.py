"""Multi-label data: the paper's data sets, an embedded one, and tables from files."""

from ._data import MultiLabelData
from ._download import DatasetUnavailableError
from .arff import read_arff, read_label_names
from .digits import make_overlaid_digits
from .files import Table, match_columns, read_table
from .find import find_data, read_data
from .mulan import DatasetInfo, list_datasets, load_dataset

__all__ = [
    "DatasetInfo",
    "DatasetUnavailableError",
    "MultiLabelData",
    "Table",
    "find_data",
    "list_datasets",
    "load_dataset",
    "make_overlaid_digits",
    "match_columns",
    "read_arff",
    "read_data",
    "read_label_names",
    "read_table",
]
