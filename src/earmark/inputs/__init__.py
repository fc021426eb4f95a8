"""What users give: texts, regions, labels, class names, and copies among them."""
