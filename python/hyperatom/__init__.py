"""hyperatom: hyperspectral images classified from few labelled pixels."""

from . import _core
from ._codes import SparseCode, sparse_code
from ._estimators import KernelDictionaryLearning, KernelTDDLClassifier, SparseRepresentationClassifier
from ._files import read_labels, read_scene
from ._maps import load_model, predict_map, save_model
from ._scenes import BlockKFold, split, synth, windows

__version__ = _core.version

__all__ = [
    "BlockKFold",
    "KernelDictionaryLearning",
    "KernelTDDLClassifier",
    "SparseCode",
    "SparseRepresentationClassifier",
    "load_model",
    "predict_map",
    "read_labels",
    "read_scene",
    "save_model",
    "sparse_code",
    "split",
    "synth",
    "windows",
]
