"""Text classification for many documents and few labels."""

import logging

from earmark._optional import names_at_first_use

__version__ = "0.1.0"

# At first use, so that ``import earmark`` and ``earmark --help`` stay quick.
__getattr__, __dir__, __all__ = names_at_first_use(__name__)
__all__ += ["__version__"]

logging.getLogger("earmark").addHandler(logging.NullHandler())
