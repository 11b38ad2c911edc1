"""Dense rows in Parquet files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from refpair.on_disk.rows import Rows, RowsOnDisk

__all__ = ["ParquetRows"]


class ParquetRows(RowsOnDisk):
    """Rows in a Parquet file, or in all those of a folder, by the order of their names; columns are numbers.

    A row group is read as a whole if one of its rows is asked for. Single rows of a ``.npy`` file are read
    much faster: :meth:`RowsOnDisk.save` writes one.

    Examples
    --------
    >>> import pandas as pd
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "X.parquet")
    ...     pd.DataFrame({"tempo": [120.0, 90.0, None], "loud": [1, 0, 1]}).to_parquet(path)
    ...     ParquetRows(path)[np.array([2, 0])]
    array([[ nan,   1.],
           [120.,   1.]])
    """

    def __init__(self, path: Path, columns: list[str] | None = None) -> None:
        try:
            import pyarrow.parquet as pq  # noqa: PLC0415 - an extra
        except ImportError as error:
            raise ImportError("Parquet files need pyarrow: pip install 'refpair[parquet]'") from error
        self.path = path
        files = sorted(path.glob("*.parquet")) if path.is_dir() else [path]
        if not files:
            raise ValueError(f"{path}: the folder holds no .parquet files")
        self._groups: list[tuple[Path, int]] = []
        ends = [0]
        for one in files:
            about = pq.ParquetFile(one)
            names = about.schema_arrow.names
            self.feature_names = self.feature_names or columns or names
            unknown = [name for name in self.feature_names if name not in names]
            if unknown or (columns is None and names != self.feature_names):
                raise ValueError(f"{one}: its columns are {names}, and not {self.feature_names}")
            for group in range(about.metadata.num_row_groups):
                self._groups.append((one, group))
                ends.append(ends[-1] + about.metadata.row_group(group).num_rows)
        self._ends = np.array(ends)
        self.shape = ends[-1], len(self.feature_names or [])

    def _read(self, rows: Rows) -> npt.NDArray[np.float64]:
        import pyarrow.parquet as pq  # noqa: PLC0415 - an extra

        out = np.empty((len(rows), self.shape[1]))
        bounds = np.searchsorted(rows, self._ends)
        opened: tuple[Path, Any] | None = None
        for number in np.flatnonzero(np.diff(bounds)):
            path, group = self._groups[number]
            if opened is None or opened[0] != path:
                opened = path, pq.ParquetFile(path)
            table = opened[1].read_row_group(group, columns=self.feature_names)
            mine = slice(bounds[number], bounds[number + 1])
            out[mine] = self._numbers(table)[rows[mine] - self._ends[number]]
        return out

    def _numbers(self, table: Any) -> npt.NDArray[np.float64]:
        try:
            return np.asarray(table.to_pandas().to_numpy(dtype=np.float64, na_value=np.nan))
        except (TypeError, ValueError) as error:
            raise ValueError(f"{self.path}: a column does not hold numbers ({error})") from error
