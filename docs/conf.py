"""The docs site: `make docs` writes it to `site/`, without the network."""

from __future__ import annotations

import os
import re
import tempfile
from typing import Any

import matplotlib as mpl
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.nodes import make_refnode

import sparselaw

mpl.use("Agg")
os.environ["XDG_DATA_HOME"] = tempfile.mkdtemp()  # examples leave the user's runs alone

project = "sparselaw"
copyright = "the sparselaw developers"
release = version = sparselaw.__version__

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.mathjax",
    "sphinx_gallery.gen_gallery",
]
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
autodoc_type_aliases = {"FloatArray": "FloatArray", "Inputs": "Inputs"}
python_use_unqualified_type_names = True

# Every type of a signature leads to its place on the page, or is one of these.
nitpicky = True
nitpick_ignore_regex = [
    ("py:.*", r"(collections|pathlib|threading|typing|matplotlib|numpy|pandas|pd|np|sparse)\..*|Path|Axes"),
    ("py:.*", "Purpose|TypeAliasForwardRef"),  # names of literals
]

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


def setup(app: Sphinx) -> None:
    app.connect("autodoc-process-docstring", headed_sections)
    app.connect("autodoc-process-signature", plain_aliases)
    app.connect("missing-reference", by_its_last_name)


ARGUMENTS = re.compile(r"(\w+, )*\*{1,2}\w+( :.*)?$")  # *args and **settings, which are no emphasis


def headed_sections(*given: Any) -> None:
    """Numpydoc's sections as headings; what they hold is a definition list already."""
    lines: list[str] = given[-1]
    lines[:] = [
        re.sub(r"(?<!\w)(\*+)(?=\w)", lambda m: "\\*" * len(m[1]), line) if ARGUMENTS.match(line) else line
        for line in lines
    ]
    for place, line in enumerate(lines[1:]):
        if re.fullmatch("-{3,}", line) and lines[place].isalpha():
            lines[place : place + 2] = [f".. rubric:: {lines[place]}", ""]


def plain_aliases(*given: Any) -> tuple[str | None, str | None]:
    """``FloatArray`` where an alias inside of another type is shown as a forward reference."""
    signature, returns = (
        text and re.sub(r"TypeAliasForwardRef\('(\w+)'\)", r"\1", text) for text in given[-2:]
    )
    return signature, returns


def by_its_last_name(
    app: Sphinx, env: Any, node: nodes.Element, child: nodes.Element
) -> nodes.Element | None:
    """Types imported for the type checker alone are known by their last name: where one object has it."""
    if node.get("refdomain") != "py":
        return None
    last = node["reftarget"].split(".")[-1]
    known = [
        (name, found) for name, found in env.domains["py"].objects.items() if name.split(".")[-1] == last
    ]
    if len(known) != 1:
        return None
    name, found = known[0]
    return make_refnode(app.builder, node["refdoc"], found.docname, found.node_id, child, name)
