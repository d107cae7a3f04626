"""What `ptft finetune` does around the solver: the files that come in, the table, the files and figure that go out."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from rich.console import Console
from rich.table import Table

from ptft_sym import arrays, digits
from ptft_sym.files import replacing, write_text

#: columns of the scan, in scan.csv and with --json
SCAN = ("lam", "ell_order", "pd", "test_mse", "test_mse_se", "misclassified", "misclassified_se")


class Data(NamedTuple):
    """``train`` = (x_pt, y_pt, x_ft, y_ft), ``test`` = keywords for the solver, columns kept, what was done to them."""

    train: tuple
    test: dict
    kept: np.ndarray
    message: str


def load(names, standardise=True, draw=0):
    """The arrays behind the options (a dict from x_pt, y_pt, x_ft, y_ft, x_test, y_test to a file or None).

    With no file at all, the digits example. Raises ValueError with a sentence for anything missing or mismatched.
    """
    if not any(names.values()):
        d = digits.load(draw=draw)
        test = {"x_test": d.x_test, "y_test": d.y_test}
        return Data((d.x_pt, d.y_pt, d.x_ft, d.y_ft), test, np.ones(d.x_pt.shape[1], bool), d.message)
    missing = [_option(n) for n in ("x_pt", "y_pt", "x_ft", "y_ft") if not names[n]]
    if missing:
        raise ValueError(f"{', '.join(missing)} missing: give all four of --x-pt, --y-pt, --x-ft, --y-ft, or none")
    if bool(names["x_test"]) != bool(names["y_test"]):
        raise ValueError("--x-test and --y-test belong together: give both or neither")
    got = {n: arrays.read(f, _option(n), 2 if n[0] == "x" else 1) for n, f in names.items() if f}
    return _prepare(got, standardise)


def _prepare(got, standardise):
    _check_shapes(got)
    xs = [n for n in ("x_ft", "x_test") if n in got]
    if standardise:
        ready = arrays.standardise(got["x_pt"], got["y_pt"], *(got[n] for n in xs))
        got |= {"x_pt": ready.x_pt, "y_pt": ready.y_pt, **dict(zip(xs, ready.others, strict=True))}
        kept, message = ready.kept, ready.message
    else:
        kept = np.ones(got["x_pt"].shape[1], bool)
        constant = int((np.ptp(got["x_pt"], axis=0) == 0).sum())
        message = "arrays taken as they are" + (f"; {constant} columns of x_pt are constant" if constant else "")
    test = {n: got[n] for n in ("x_test", "y_test") if n in got}
    return Data(tuple(got[n] for n in ("x_pt", "y_pt", "x_ft", "y_ft")), test, kept, message)


def _check_shapes(got):
    """Before any arithmetic on them: rows agree within a set, columns between the sets."""
    for part in ("pt", "ft", "test"):
        if f"x_{part}" in got and len(got[f"x_{part}"]) != len(got[f"y_{part}"]):
            raise ValueError(
                f"{_option(f'x_{part}')} has {len(got[f'x_{part}'])} rows and {_option(f'y_{part}')} "
                f"{len(got[f'y_{part}'])}: they must be equal"
            )
        if f"x_{part}" in got and got[f"x_{part}"].shape[1] != got["x_pt"].shape[1]:
            raise ValueError(
                f"{_option(f'x_{part}')} has {got[f'x_{part}'].shape[1]} columns and --x-pt {got['x_pt'].shape[1]}: "
                "they must be equal"
            )


def _option(name):
    return "--" + name.replace("_", "-")


def document(solved, scanned=()):
    """The printed tables as plain data: the two stages, the solution's metrics, its errors, and the scan over lam."""
    stages = {
        name: {key: getattr(stage, key) for key in ("n", "rank", "train_error", "residual", "message")}
        for name, stage in (("pretrained", solved.pretrained), ("finetuned", solved.finetuned))
    }
    found = {"settings": {name: getattr(solved.init, name) for name in ("c", "lam", "gamma")}, **stages}
    found |= {name: getattr(solved, name) for name in ("ell_order", "pd", "test", "test_before")}
    found["scan"] = [dict(zip(SCAN, _scan_row(one), strict=True)) for one in scanned]
    found["best_lam"] = scanned[best(scanned)[0]].init.lam if scanned and solved.test is not None else None
    return found


def show(solved, console=None):
    """The printed table of one solution, and the statement of each stage."""
    console = console or Console()
    for stage in (solved.pretrained, solved.finetuned):
        console.print(stage.message, highlight=False, soft_wrap=True)
    table = Table("quantity", "value", title=_title(solved.init))
    rows = [("training error (mse), pretraining", f"{solved.pretrained.train_error:.3g}"),
            ("training error (mse), fine-tuning", f"{solved.finetuned.train_error:.3g}"),
            ("solver residual", f"{max(solved.pretrained.residual, solved.finetuned.residual):.1e}"),
            ("l-order of the solution", f"{solved.ell_order:.4f}"),
            ("PD of the solution", f"{solved.pd:.4f}")]
    for label, error in (("fine-tuned", solved.test), ("pretrained only", solved.test_before)):
        if error is not None:
            rows.append((f"test mse, {label}", _with_error(error.mse, error.mse_se)))
            if np.isfinite(error.misclassified):
                rows.append((f"test errors, {label}", _with_error(error.misclassified, error.misclassified_se, True)))
    for row in rows:
        table.add_row(*row)
    console.print(table)


def _title(init, without=None):
    return ", ".join(f"{name} = {getattr(init, name):g}" for name in ("c", "lam", "gamma") if name != without)


def _with_error(value, error, percent=False):
    if percent:
        return f"{100 * value:.1f} % +- {100 * error:.1f}"
    return f"{value:.4g} +- {error:.2g}"


def save(folder, solved, data, scanned=()):
    """`solution.npz` (vectors over the columns given, zero where a column was left out); `scan.csv` and `scan.png`.

    Returns the names of the files written.
    """

    def full(vector):
        out = np.zeros(len(data.kept))
        out[data.kept] = vector
        return out

    values = {
        "beta_pt": full(solved.pretrained.beta), "beta_ft": full(solved.finetuned.beta), "c_ft": full(solved.c_ft),
        "kept": data.kept, "c": solved.init.c, "lam": solved.init.lam, "gamma": solved.init.gamma,
        "ell_order": solved.ell_order, "pd": solved.pd,
        "statement": np.array([data.message, solved.pretrained.message, solved.finetuned.message]),
    }
    if solved.test is not None:
        values |= {"test_mse": solved.test.mse, "test_misclassified": solved.test.misclassified}
    with replacing(folder / "solution.npz") as partial:
        np.savez(partial, **values)
    if not scanned:
        return ["solution.npz"]
    lines = [",".join(f"{v!r}" for v in _scan_row(one)) for one in scanned]
    write_text(folder / "scan.csv", "\n".join([",".join(SCAN), *lines]) + "\n")
    from ptft_sym import plots

    with replacing(folder / "scan.png") as partial:
        rows = np.array([_scan_row(one) for one in scanned])
        plots.scan(rows, partial, _title(scanned[0].init, "lam"), best=best(scanned)[0] if solved.test else None)
    return ["solution.npz", "scan.csv", "scan.png"]


def _scan_row(one):
    test = (np.nan,) * 4 if one.test is None else (
        one.test.mse, one.test.mse_se, one.test.misclassified, one.test.misclassified_se
    )
    return tuple(float(v) for v in (one.init.lam, one.ell_order, one.pd, *test))


def best(scanned):
    """Index of the least test error (wrong signs where the targets are +-1, else mse), and the quantity's name."""
    name = "misclassified" if np.isfinite(scanned[0].test.misclassified) else "mse"
    return min(range(len(scanned)), key=lambda i: (getattr(scanned[i].test, name), scanned[i].test.mse)), name


def show_scan(scanned, console=None):
    """The scan as a table, and the best entry in a sentence with its uncertainty."""
    console = console or Console()
    table = Table("lam", "l-order", "PD", "test mse", "test errors", title="scan of the relative scale")
    for lam, order, pd, mse, mse_se, wrong, wrong_se in map(_scan_row, scanned):
        table.add_row(f"{lam:g}", f"{order:.3f}", f"{pd:.3f}", _or_dash(mse, mse_se), _or_dash(wrong, wrong_se, True))
    console.print(table)
    if scanned[0].test is None:
        console.print("no test data, so no best lam: give --x-test and --y-test")
        return
    index, name = best(scanned)
    top = scanned[index]
    value, error = getattr(top.test, name), getattr(top.test, f"{name}_se")
    label = "test errors" if name == "misclassified" else "test mse"
    ties = sum(getattr(one.test, name) <= value + error for one in scanned)
    console.print(
        f"best lam = {top.init.lam:g}: {label} {_with_error(value, error, name == 'misclassified')} (standard error "
        f"over test rows); {ties} of {len(scanned)} values of lam lie within one standard error of it",
        highlight=False, soft_wrap=True,
    )


def _or_dash(value, error, percent=False):
    return _with_error(value, error, percent) if np.isfinite(value) else "-"

