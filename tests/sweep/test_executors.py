"""The same numbers from one process, from worker processes, and from a Dask cluster, whoever dies on the way."""

import os
import signal
import socket

import numpy as np
import pytest
import xarray as xr

import ptft_sym as pt
from numerics.sweep import Sweep
from numerics.sweep.executors import open_executor

REPLICA = ({"omega": [0.0, 0.5, 1.0], "lam": [-0.99, -0.5, 0.5], "alpha": [0.1, 0.2, 0.3, 0.4]},
           {"rho_pt": 0.1, "rho_ft": 0.05, "c": 1e-3})


def test_worker_processes_give_the_serial_numbers():
    serial = pt.sweep("replica", *REPLICA, workers=1, chunk=4)
    local = pt.sweep("replica", *REPLICA, workers=2, chunk=4)
    xr.testing.assert_identical(local, serial)


def test_a_worker_that_dies_once_changes_nothing(tmp_path):
    axes = {"x": [1, 2, 3], "y": [0, 1, 2]}
    ds = pt.sweep("function", axes, {"mark": str(tmp_path / "mark")}, function="sweep_functions:deadly_once",
                  outputs=("value",), workers=2, chunk=3)
    assert (tmp_path / "mark").exists()
    np.testing.assert_array_equal(ds["value"], 10.0 * np.array([[1], [2], [3]]) + np.arange(3))
    assert (ds["status"] == 1).all()


def test_the_setting_that_kills_its_worker_is_named_and_the_rest_completes():
    ds = pt.sweep("function", {"x": [1, 2, 3], "y": [0, 1, 2]}, function="sweep_functions:deadly", outputs=("value",),
                  workers=2, chunk=3)
    expected = 10.0 * np.array([[1], [2], [3]]) + np.arange(3)
    expected[1, 1] = np.nan
    np.testing.assert_array_equal(ds["value"], expected)
    assert "the worker process died" in str(ds["message"].values[1, 1])
    assert int((ds["status"] == 2).sum()) == 1


def test_a_caller_that_stops_early_leaves_no_process_behind():
    spec = Sweep.of("function", {"x": list(range(50)), "y": [1]}, {"delay": 0.02, "log": ""},
                    function="sweep_functions:product", outputs=("value",), chunk=1)
    before = _children()
    finished = open_executor(2)(spec.job(block) for block in spec.blocks())
    next(finished)
    assert _children() - before
    finished.close()
    assert not _children() - before


def _children():
    me, found = str(os.getpid()), set()
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/stat") as file:
                state, parent = file.read().rpartition(")")[2].split()[:2]
        except OSError:
            continue
        if parent == me and state != "Z":
            found.add(pid)
    return found


def test_a_worker_with_other_code_refuses():
    spec = Sweep.of("metrics", {"lam": [0.0, 0.5]}, {"c": 1.0}, chunk=1)
    jobs = [spec.job(block)._replace(version="0" * 16) for block in spec.blocks()]
    with pytest.raises(RuntimeError, match="install the same version on every machine"):
        list(open_executor(2)(jobs))


def test_arguments_are_refused_by_name():
    for arguments, words in (({"workers": 0}, "workers = 0"), ({"workers": 2, "scheduler": "tcp://x:1"}, "exclude")):
        with pytest.raises(ValueError, match=words):
            pt.sweep("metrics", {"lam": [0.0, 0.5]}, {"c": 1.0}, **arguments)


# distributed leaves sockets and loops to the collector when a worker is killed
@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::DeprecationWarning", "ignore::UserWarning")
def test_a_dask_cluster_with_a_worker_killed_gives_the_serial_numbers(tmp_path):
    distributed = pytest.importorskip("distributed")
    serial = pt.sweep("replica", *REPLICA, workers=1, chunk=2)
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50
    ) as cluster:
        with distributed.Client(cluster, set_as_default=False) as client:
            victims = list(client.run(os.getpid).values())
        assert len(set(victims)) == 2
        assert os.getpid() not in victims
        killed = []

        def progress(done, total, failed):
            if done == 3 and not killed:
                killed.append(victims[0])
                os.kill(victims[0], signal.SIGKILL)

        parallel = pt.sweep("replica", *REPLICA, scheduler=cluster.scheduler_address, chunk=2, store=tmp_path,
                            progress=progress)
    assert killed
    for name in serial.data_vars:
        np.testing.assert_array_equal(parallel[name].values, serial[name].values, err_msg=name)


def test_no_scheduler_is_a_sentence():
    pytest.importorskip("distributed")
    with socket.socket() as taken:  # bound but not listening: nobody answers there
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        for address in (f"tcp://127.0.0.1:{port}", f"127.0.0.1:{port}", "nonsense", "tcp://127.0.0.1:port"):
            with pytest.raises(OSError, match=f"no Dask scheduler answers at '{address}'"):
                pt.sweep("metrics", {"lam": [0.0, 0.5]}, {"c": 1.0}, scheduler=address)
