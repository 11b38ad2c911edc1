"""Multi-label data: the paper's data sets and an embedded one."""

from .arff import MultiLabelData
from .load import DatasetInfo, DatasetUnavailableError, list_datasets, load_dataset

__all__ = ["DatasetInfo", "DatasetUnavailableError", "MultiLabelData", "list_datasets", "load_dataset"]
