"""Multi-label data: the paper's data sets, an embedded one, and what a user names."""

from refpair.tables._arff import read_label_names

from ._download import DatasetUnavailableError
from .arff import MultiLabelData, read_arff
from .digits import make_overlaid_digits
from .find import find_data, read_data
from .mulan import DatasetInfo, list_datasets, load_dataset

__all__ = [
    "DatasetInfo",
    "DatasetUnavailableError",
    "MultiLabelData",
    "find_data",
    "list_datasets",
    "load_dataset",
    "make_overlaid_digits",
    "read_arff",
    "read_data",
    "read_label_names",
]
