from .explain import Explanation as Explanation
from .explain import TermEvidence as TermEvidence
from .files import load as load
from .text_classifier import TextClassifier as TextClassifier
