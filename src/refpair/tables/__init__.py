"""Tables as people have them: read, turned into features, and labels in any form."""

from refpair.tables.images import find_picture
from refpair.tables.vectorizer import TableVectorizer

__all__ = ["TableVectorizer", "find_picture"]
