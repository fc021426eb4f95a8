from .report import Report as Report
from .report import SideBySide as SideBySide
