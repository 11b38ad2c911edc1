"""Multi-label data: the paper's data sets, an embedded one, and what a user names."""

from .arff import MultiLabelData, read_arff
from .find import read_data
from .mulan import DatasetInfo, DatasetUnavailableError, list_datasets, load_dataset

__all__ = [
    "DatasetInfo", "DatasetUnavailableError", "MultiLabelData", "list_datasets", "load_dataset", "read_arff",
    "read_data",
]  # fmt: skip
