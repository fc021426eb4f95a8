"""What the two web applications share: limits, logs, headers, a page's files."""
