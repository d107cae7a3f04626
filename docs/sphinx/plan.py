"""What is on the site and in which order: the table of contents, and the links that differ from the repository's."""

# caption -> pages, as (title, document) or document alone; a page of the repository that nobody names here is added
# under the last caption, so that a new page is never lost
CONTENTS = {
    "Start": [
        ("The tutorial: fifteen minutes", "docs/tutorial"),
        ("Where to read on", "docs/index"),
    ],
    "How to": [
        ("Generate a kernel", "docs/kernels"),
        ("Use your own data", "docs/finetune"),
        ("Plan a fine-tuning run", "docs/plan"),
        ("Scale a sweep", "docs/sweeps"),
        ("Train and compare networks", "docs/networks"),
    ],
    "The theory": [
        ("What is proved, and how", "docs/derivations"),
        ("The derivations", "theory/index"),
        ("Predictions", "docs/replica"),
        ("Exact solutions", "docs/simulation"),
        ("The notebooks", "notebooks/index"),
    ],
    "Reference": [
        ("Conventions", "docs/conventions"),
        ("Python", "reference/index"),
        ("The command line", "docs/cli"),
        ("All commands and options", "reference/cli"),
        ("What is refused", "docs/bad_input"),
    ],
    "The project": [
        ("Benchmark: exact solutions", "benchmarks/diagonal"),
        ("Benchmark: sweeps", "benchmarks/sweep"),
        ("Benchmark: nonlinear networks", "benchmarks/nonlinear"),
        ("Benchmark: the ruler", "benchmarks/ruler"),
        ("Contributing", "CONTRIBUTING"),
        ("What changed", "CHANGELOG"),
    ],
}

# Markdown pages taken from the repository, at the same places, so that their links to each other hold on the site too
PAGES = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs/*.md", "benchmarks/*.md")
RENAMED = {"README.md": "index.md"}

# Where a link to a folder of the repository leads on the site
FOLDERS = {"derivations": "theory/index.md", "notebooks": "notebooks/index.md"}


def toctrees(documents):
    """The hidden tables of contents that make the sidebar, for the documents that exist."""
    named = {page[1] if isinstance(page, tuple) else page for pages in CONTENTS.values() for page in pages}
    missing = sorted(named - set(documents))
    if missing:
        raise ValueError(f"plan.CONTENTS names pages that do not exist: {', '.join(missing)}")
    blocks = []
    for caption, pages in CONTENTS.items():
        lines = [f"{page[0]} <{page[1]}>" if isinstance(page, tuple) else page for page in pages]
        if caption == list(CONTENTS)[-1]:
            lines += sorted(set(documents) - named - {"index"})
        blocks.append("\n".join(["```{toctree}", ":hidden:", f":caption: {caption}", "", *lines, "```"]))
    return "\n\n".join(blocks)
