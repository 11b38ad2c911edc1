"""Cost-sensitive multi-label learning: the classifier that is best for your own cost."""

from importlib.metadata import version

from refpair.classifiers import CSRPEClassifier
from refpair.costs import Cost, get_cost

__all__ = ["CSRPEClassifier", "Cost", "get_cost"]
__version__ = version("refpair")
