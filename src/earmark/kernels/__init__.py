"""Arrays in, arrays out: no state, no validation, no files.

Hot kernels have a compiled twin in the extension module; ``backend.native()``
says whether it serves.
"""
