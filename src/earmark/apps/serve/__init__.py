"""``earmark serve``: a model behind a URL. Imported only when it is asked for."""
