"""``earmark label``: label documents in the browser. Imported when asked for."""
