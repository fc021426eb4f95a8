"""Settings of the documentation: `make docs` builds it, offline, warnings as errors."""

import sys
import tomllib
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))

import earmark  # noqa: E402

project = "earmark"
author = "The earmark developers"
copyright = "the earmark developers, BSD-3-Clause"  # noqa: A001
version = release = earmark.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.viewcode",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "numpydoc",
    # Ours, in docs/_ext.
    "api_pages",
    "mathml",
    "results_pages",
    "offline",
    "plain_docstrings",
    "claims",
]
exclude_patterns = [
    "_build",
    "_generated",
    "_templates",
    "_ext",
    "auto_examples/*.ipynb",
]
templates_path = ["_templates"]
highlight_language = "none"

# -- Markdown ------------------------------------------------------------------
myst_enable_extensions = ["amsmath", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 4
myst_dmath_double_inline = True

# -- API reference -------------------------------------------------------------
autosummary_generate = True
autodoc_typehints = "none"
autodoc_member_order = "bysource"
toc_object_entries_show_parents = "hide"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False


def _style(*_: object) -> None:
    """Figures of the gallery look like all others."""
    import matplotlib.pyplot as plt

    from reproductions.figure_style import settings

    plt.rcParams.update(plt.rcParamsDefault | settings())


# -- Gallery -------------------------------------------------------------------
sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "auto_examples",
    "filename_pattern": r"plot_",
    "ignore_pattern": r"^(?!plot_)",
    "within_subsection_order": "gallery_order.GalleryOrder",
    "backreferences_dir": "reference/backreferences",
    "doc_module": ("earmark",),
    "reference_url": {"earmark": None},
    "download_all_examples": False,
    "show_signature": False,
    "remove_config_comments": True,
    "abort_on_example_error": True,
    "write_computation_times": False,
    "matplotlib_animations": False,
    "image_scrapers": ("matplotlib",),
    "reset_modules": (_style,),
    "image_srcset": ["2x"],
}
copybutton_exclude = ".linenos, .gp, .go"

# -- Pages ---------------------------------------------------------------------
html_theme = "pydata_sphinx_theme"
html_title = "earmark"
html_static_path = ["_static"]
html_css_files = ["earmark.css"]
html_favicon = html_logo = "../src/earmark/apps/web/static/mark.svg"
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "logo": {"text": "earmark"},
    "show_prev_next": True,
    "navigation_with_keys": False,
    "header_links_before_dropdown": 7,
    "navbar_align": "left",
    "show_toc_level": 2,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_sidebars = {
    page: []
    for page in ("index", "install", "quickstart", "faq", "changelog", "performance")
}
# Links to the repository, as pyproject.toml names it.
_urls = tomllib.loads((HERE.parent / "pyproject.toml").read_text())["project"].get(
    "urls", {}
)
html_theme_options["icon_links"] = [
    {"name": name, "url": url, "icon": "fa-solid fa-code-branch"}
    for name, url in _urls.items()
]
# Included pages begin with a second-level heading, below that of their host.
suppress_warnings = ["config.cache", "myst.header"]
