"""``python -m earmark`` is the ``earmark`` command."""

from earmark.apps.cli.main import main

if __name__ == "__main__":
    main()
