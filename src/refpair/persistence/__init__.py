"""Model files without pickle: loading one runs no code from the file."""

from refpair.persistence._file import ModelFileError, load, save

__all__ = ["ModelFileError", "load", "save"]
