"""`ptft demo` in words: tables for the terminal, the same tables in Markdown, and report.md around them."""

from __future__ import annotations

import csv
import io
import platform

import numpy as np
from rich.table import Table

from ptft_sym import demo


def comparison_rows(cells):
    """One row a point of the four favoured pairs: regime, D, n, alpha, theory, simulation, standard error, z."""
    for r in demo.TASKS:
        c = cells[r, r].comparison
        for j, alpha in enumerate(c.alpha):
            dim = int(c.dims[0])
            yield r, dim, round(alpha * dim), float(alpha), *(
                float(v[j]) for v in (c.theory, c.value, c.value_error, c.z)
            )


def comparison_table(cells):
    """The rows as text: header, then cells."""
    head = ["regime", "D", "n", "alpha", "theory", "simulation", "z"]
    body = [
        [r, str(dim), str(n), f"{alpha:g}", f"{theory:.4f}", f"{mean:.4f} ± {se:.4f}", f"{z:+.2f}"]
        for r, dim, n, alpha, theory, mean, se, z in comparison_rows(cells)
    ]
    return head, body


def winner_table(cells):
    """Predicted (and simulated) error of every task from every initialisation at its alpha; the least is marked."""
    head = ["task for", "alpha", *(f"from {i}" for i in demo.INITS)]
    body = []
    for t, (_, _, alpha, _) in demo.SIMULATED.items():
        at = [int(np.argmin(np.abs(cells[t, i].comparison.alpha - alpha))) for i in demo.INITS]
        got = [(cells[t, i].comparison, j) for i, j in zip(demo.INITS, at, strict=True)]
        least = min(range(len(got)), key=lambda k: got[k][0].theory[got[k][1]])
        body.append([t, f"{alpha:g}", *(
            f"{c.theory[j]:.3f} ({c.value[j]:.3f})" + (" *" if k == least else "")
            for k, (c, j) in enumerate(got)
        )])
    return head, body


def winner_ranges(cells):
    """Between which of the drawn ratios the start for a task's own regime is predicted best."""
    parts = []
    for t in demo.TASKS:
        alpha = cells[t, t].alpha
        others = np.min([cells[t, i].theory for i in demo.INITS if i != t], axis=0)
        won = alpha[cells[t, t].theory < others]
        where = f"from {won[0]:.3g} to {won[-1]:.3g}" if len(won) else "nowhere"
        parts.append(f"{t} is best on its own task {where} (of {alpha[0]:.3g} to {alpha[-1]:.3g})")
    return "; ".join(parts)


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
    writer.writerow(["task", "initialisation", "D", "alpha", "theory", "simulation", "standard_error", "z"])
    for (t, i), cell in cells.items():
        for row in cell.comparison.rows():
            numbers = (row[k] for k in ("alpha", "theory", "simulation", "error", "z"))
            writer.writerow([t, i, cell.comparison.dims[0], *map(repr, numbers)])
    return out.getvalue()


def document(results):
    """The results as plain data: verdict counts, kernels, every simulated point, their agreement, and the digits."""
    images = results["images"]
    columns = ("lam", "ell_order", "pd", "mse", "mse_se", "misclassified", "misclassified_se")
    points = [
        {"task": t, "initialisation": i, "dim": int(cell.comparison.dims[0]), **row}
        for (t, i), cell in results["cells"].items()
        for row in cell.comparison.rows()
    ]
    return {
        "derivations": results["derived"], "kernels": results["kernels"], "agreement": results["agreement"],
        "points": points,
        "digits": {
            "rows": [dict(zip(columns, row, strict=True)) for row in images.table.tolist()],
            "controls": {n: {"misclassified": v, "misclassified_se": e} for n, (v, e) in images.controls.items()},
        },
    }


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
        f"than the best control ({rival}); lam was chosen on the same test images, which flatters it, "
        "and so does the pair of contrasts: it was picked among about nine for clear transfer."
    )


SETTINGS = """\
Pretraining support rho_PT = {rho_pt}, pretraining perfect (oracle), c = {c}, {seeds} seeds, no noise.

| regime | initialisation | task that favours it |
| --- | --- | --- |
{rows}"""


def settings(seeds):
    """The settings as Markdown."""
    rows = "\n".join(
        f"| {r}: {demo.WORDS[r]} | lam = {demo.INITS[r][0]:g}, gamma = {demo.INITS[r][1]:g} "
        f"| omega = {demo.TASKS[r][0]:g}, rho_FT = {demo.TASKS[r][1]:g} |"
        for r in demo.INITS
    )
    return SETTINGS.format(rho_pt=demo.RHO_PT, c=demo.C, seeds=seeds, rows=rows)


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

{versions}; {seconds:.0f} s; `ptft demo --seeds {seeds} --draws {draws}`.

## Derived

{derived}

| derivation | definitions | assumptions | proved | sampled |
| --- | --- | --- | --- | --- |
{ledger}

The numbers below come from {kernels} NumPy kernels generated from those derivations, among them:

| kernel | accuracy it states |
| --- | --- |
{accuracy}

## Settings

{settings}

## Theory against exact simulation

{agreement}

{comparison}

z = (simulation - theory) / standard error over seeds, Student's t mapped to the normal. The theory is the limit of
large D: corrections of order 1/D are part of z. All {points} points, of every start on every task: `points.csv`.

![Predicted and simulated test error](curves.png)

## Which initialisation is best on which task

{winners}

Predicted (simulated) test error; * marks the least predicted. The ranking depends on alpha. Among the ratios drawn in
the figure, {ranges}.

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


def _accuracy(kernels):
    shown = ("c_ft", "potential", "ell_order", "pretraining_dependence", "channel_moments")
    return "\n".join(f"| `{name}` | {kernels[name]} |" for name in shown if name in kernels)


def write(results, seeds, draws, seconds):
    """The text of report.md; `results` has derived, kernels, cells, agreement, marks and images."""
    ledger = "\n".join(
        f"| {name} | " + " | ".join(str(c[k]) for k in ("definitions", "assumptions", "proved", "sampled")) + " |"
        for name, c in results["derived"].items()
    )
    cells, pictures = results["cells"], results["images"]
    return REPORT.format(
        versions=versions(), seconds=seconds, seeds=seeds, draws=draws,
        derived=derivation_sentence(results["derived"]), ledger=ledger,
        kernels=len(results["kernels"]), accuracy=_accuracy(results["kernels"]),
        settings=settings(seeds), agreement=results["agreement"].sentence,
        comparison=markdown(comparison_table(cells)), points=sum(len(c.comparison.z) for c in cells.values()),
        winners=markdown(winner_table(cells)), ranges=winner_ranges(cells),
        ii=results["marks"]["II"]["ell_order"], images_message=pictures.message,
        n_pt=pictures.sizes[0], n_dim=pictures.sizes[1], n_ft=pictures.sizes[2], n_test=pictures.sizes[3],
        images=markdown(image_table(pictures)), image_sentence=image_sentence(pictures),
    )
