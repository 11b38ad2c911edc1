"""Tables: reading, features, labels in any form, writing."""

from refpair.tables.label_names import partial_labels
from refpair.tables.read import Table, TableOptions, read_table
from refpair.tables.vectorizer import TableVectorizer
from refpair.tables.write import write_table

__all__ = ["Table", "TableOptions", "TableVectorizer", "partial_labels", "read_table", "write_table"]
