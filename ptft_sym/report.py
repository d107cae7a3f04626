"""`ptft demo` in words: tables for the terminal, the same tables in Markdown, and report.md around them."""

from __future__ import annotations

import csv
import io
import platform

import numpy as np
from rich.table import Table

from ptft_sym import demo


def comparison_rows(cells):
    """One row a point of the four favoured pairs: regime, alpha, n, theory, simulation, standard error, z, scored."""
    for r in demo.TASKS:
        c = cells[r, r].comparison
        for j, alpha in enumerate(c.alpha):
            n = round(alpha * c.dims[0])
            yield (r, float(alpha), n, *(float(v[j]) for v in (c.theory, c.value, c.value_error, c.z)),
                   bool(cells[r, r].scored[j]))


def comparison_table(cells):
    """The rows as text: header, then cells."""
    head = ["regime", "alpha", "n", "theory", "simulation", "z"]
    body = [
        [r, f"{alpha:g}", str(n), f"{theory:.4g}", f"{mean:.4g} ± {se:.2g}", f"{z:+.2f}" if scored else f"({z:+.2f})"]
        for r, alpha, n, theory, mean, se, z, scored in comparison_rows(cells)
    ]
    return head, body


def winner_table(cells, alpha):
    """Predicted (and simulated) error of every task from every initialisation at one alpha; the least is marked."""
    head = ["task that favours", *(f"from {i}" for i in demo.INITS)]
    body = []
    for t in demo.TASKS:
        at = [int(np.argmin(np.abs(cells[t, i].comparison.alpha - alpha))) for i in demo.INITS]
        got = [(cells[t, i].comparison, j) for i, j in zip(demo.INITS, at, strict=True)]
        least = min(range(len(got)), key=lambda k: got[k][0].theory[got[k][1]])
        body.append([t, *(
            f"{c.theory[j]:.3g} ({c.value[j]:.3g} ± {c.value_error[j]:.1g})" + (" *" if k == least else "")
            for k, (c, j) in enumerate(got)
        )])
    return head, body


def image_table(images):
    """Test errors of the digits for a few lam and the controls."""
    head = ["fine-tuned from", "l-order", "PD", "test errors"]
    body = [
        [f"lam = {row[0]:g}", f"{row[1]:.3f}", f"{row[2]:.3f}", _percent(row[5], row[6])]
        for row in images.table if row[0] in (-0.9999, -0.99, -0.9, 0.0, 0.99)
    ]
    return head, [*body, *([name, "", "", _percent(*value)] for name, value in images.controls.items())]


def _percent(value, error):
    return f"{100 * value:.1f} % ± {100 * error:.1f}"


def terminal(table, title):
    """A rich table."""
    head, body = table
    out = Table(*head, title=title, title_justify="left")
    for row in body:
        out.add_row(*row)
    return out


def markdown(table):
    """The same as Markdown."""
    head, body = table
    lines = ["| " + " | ".join(row) + " |" for row in (head, ["---"] * len(head), *body)]
    return "\n".join(lines)


def as_csv(cells):
    """Every simulated point of all sixteen pairs."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["task", "initialisation", "alpha", "theory", "simulation", "standard_error", "z", "scored"])
    for (t, i), cell in cells.items():
        for row, scored in zip(cell.comparison.rows(), cell.scored, strict=True):
            numbers = (row[k] for k in ("alpha", "theory", "simulation", "error", "z"))
            writer.writerow([t, i, *map(repr, numbers), int(scored)])
    return out.getvalue()


def derivation_sentence(counts):
    """How many steps were proved, sampled, assumed."""
    total = {key: sum(c[key] for c in counts.values()) for key in next(iter(counts.values()))}
    parts = ", ".join(f"{number} {key}" for key, number in total.items() if number)
    return f"{len(counts)} derivations checked: {parts}."


def image_sentence(images):
    """The gain of pretraining on the digits, paired over the choices of images."""
    rival, lam, difference, error = images.gain
    return (
        f"On the digits lam = {lam:g} makes {100 * difference:.1f} ± {100 * error:.1f} percentage points fewer errors "
        f"than the best control ({rival}); lam was chosen on the same test images, which flatters it."
    )


SETTINGS = """\
Pretraining support rho_PT = {rho_pt}, pretraining perfect (oracle), c = {c}, D = {dim}, {seeds} seeds, no noise.

| regime | initialisation | task that favours it |
| --- | --- | --- |
{rows}"""


def settings(dim, seeds):
    """The settings as Markdown."""
    rows = "\n".join(
        f"| {r}: {demo.WORDS[r]} | lam = {demo.INITS[r][0]:g}, gamma = {demo.INITS[r][1]:g} "
        f"| omega = {demo.TASKS[r][0]:g}, rho_FT = {demo.TASKS[r][1]:g} |"
        for r in demo.INITS
    )
    return SETTINGS.format(rho_pt=demo.RHO_PT, c=demo.C, dim=dim, seeds=seeds, rows=rows)


def versions():
    """What ran, in one line."""
    import scipy
    import sympy

    import ptft_sym

    return (
        f"ptft_sym {ptft_sym.__version__}, Python {platform.python_version()}, NumPy {np.__version__}, "
        f"SciPy {scipy.__version__}, SymPy {sympy.__version__}"
    )


REPORT = """\
# From derivation to simulation, in one run

{versions}; {seconds:.0f} s; `ptft demo --dim {dim} --seeds {seeds} --draws {draws}`.

## Derived

{derived}

| derivation | definitions | assumptions | proved | sampled |
| --- | --- | --- | --- | --- |
{ledger}

The numbers below come from {kernels} generated from those derivations.

## Settings

{settings}

## Theory against exact simulation

{agreement}

{comparison}

z = (simulation - theory) / standard error over seeds, Student's t mapped to the normal. Bracketed: the predicted error
is below {floor:g} of the target's energy, where a mean over seeds hangs on one rare seed; not scored.
What is left is statistical, plus finite-size corrections of order 1/D. All {points} points: `points.csv`.

![Predicted and simulated test error](curves.png)

## Which initialisation is best on which task, at alpha = {alpha:g}

{winners}

Predicted (simulated ± standard error); * marks the least predicted.

## l-order and PD

![l-order and pretraining dependence of the four initialisations](regimes.png)

Drawn for one coordinate with beta_FT = beta_PT = 1. There the setting for II has l-order {ii:.3f}, not 2: the limit of
regime II needs beta_FT much smaller than c_FT.

## Real images

{images_message}.
n_PT = {n_pt}, D = {n_dim}, n_FT = {n_ft}, {n_test} test images, {draws} choices of the fine-tuning images.

{images}

{image_sentence}
Errors are standard errors over the choices of images; the pretraining set is shared and test images overlap.

![Test error of the digits against lam](digits.png)
"""


def write(results, dim, seeds, draws, seconds):
    """The text of report.md; `results` has derived, kernels, cells, agreement, marks and images."""
    ledger = "\n".join(
        f"| {name} | " + " | ".join(str(c[k]) for k in ("definitions", "assumptions", "proved", "sampled")) + " |"
        for name, c in results["derived"].items()
    )
    cells, pictures = results["cells"], results["images"]
    return REPORT.format(
        versions=versions(), seconds=seconds, dim=dim, seeds=seeds, draws=draws,
        derived=derivation_sentence(results["derived"]), ledger=ledger, kernels=results["kernels"],
        settings=settings(dim, seeds), agreement=results["agreement"].sentence,
        comparison=markdown(comparison_table(cells)), floor=demo.FLOOR,
        points=sum(len(c.scored) for c in cells.values()),
        alpha=demo.AT[1], winners=markdown(winner_table(cells, demo.AT[1])),
        ii=results["marks"]["II"]["ell_order"], images_message=pictures.message,
        n_pt=pictures.sizes[0], n_dim=pictures.sizes[1], n_ft=pictures.sizes[2], n_test=pictures.sizes[3],
        images=markdown(image_table(pictures)), image_sentence=image_sentence(pictures),
    )
