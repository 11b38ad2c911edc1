"""Models in files, without pickle: loading one runs no code of its maker."""

from refpair.persistence._file import ModelFileError, load, save

__all__ = ["ModelFileError", "load", "save"]
