"""The docs site: `make docs` writes it to `site/`, without the network."""

from __future__ import annotations

import os
import tempfile

import matplotlib as mpl

import sparselaw

mpl.use("Agg")
os.environ["XDG_DATA_HOME"] = tempfile.mkdtemp()  # examples leave the user's runs alone

project = "sparselaw"
copyright = "the sparselaw developers"
release = version = sparselaw.__version__

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.mathjax", "sphinx_gallery.gen_gallery"]
exclude_patterns = ["gallery", "examples/*.ipynb", "examples/*.py", "**/sg_execution_times.*"]
html_theme = "furo"
html_title = f"sparselaw {release}"
html_static_path = ["static"]
html_show_sphinx = False

# Formulas are drawn by the copy of MathJax that lies beside the pages.
mathjax_path = "mathjax/tex-svg.js"
myst_enable_extensions = ["dollarmath", "amsmath", "deflist"]
myst_heading_anchors = 3

# Tutorials run when the site is built; a page that fails breaks the build.
nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_timeout = 600
nb_merge_streams = True

autodoc_typehints = "signature"
autodoc_member_order = "bysource"
autodoc_default_options = {"members": True}
autodoc_type_aliases = {"FloatArray": "FloatArray", "Inputs": "Inputs"}
python_use_unqualified_type_names = True

sphinx_gallery_conf = {
    "examples_dirs": "gallery",
    "gallery_dirs": "examples",
    "filename_pattern": r"/plot_",
    "download_all_examples": False,
    "show_signature": False,
    "write_computation_times": False,
    "min_reported_time": 1e9,
    "remove_config_comments": True,
    "nested_sections": False,
    "within_subsection_order": "FileNameSortKey",
}
