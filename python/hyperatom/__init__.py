"""hyperatom: hyperspectral images classified from few labelled pixels."""

from . import _core
from ._core import Model
from ._estimators import KernelDictionaryLearning, KernelTDDLClassifier, SparseRepresentationClassifier

__version__ = _core.version

__all__ = [
    "KernelDictionaryLearning",
    "KernelTDDLClassifier",
    "Model",
    "SparseRepresentationClassifier",
]
