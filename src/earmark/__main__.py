"""``python -m earmark`` is the ``earmark`` command."""

import os
import sys


def main() -> None:
    """Run the command; Ctrl-C while it is still being imported ends it quietly."""
    # Products here are small: threads of BLAS would mostly wait for each other.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        from earmark.apps.cli.main import main as run
    except KeyboardInterrupt:
        sys.exit(130)
    run()


if __name__ == "__main__":
    main()
