from . import decision as decision
from . import distributed as distributed
from . import documents as documents
from . import encoders as encoders
from . import evaluation as evaluation
from . import exceptions as exceptions
from . import features as features
from . import models as models
from . import statistics as statistics
from .pipeline import TextClassifier as TextClassifier
from .pipeline import load as load

__version__: str
