# SPDX-License-Identifier: Apache-2.0
"""Sweeps on Dask: as by processes, with files that travel, workers that die, and bad addresses."""

import socket
import subprocess
from pathlib import Path

import dask
import pytest
from distributed import Future, KilledWorker, LocalCluster, Security
from small_scenarios import small
from small_traces import bimodal, heapfit, table2
from sweep_work import die_at_first, refuse_odd, square, text_of

from heapfit import _engine
from heapfit.errors import HeapfitError
from heapfit.sweep import Job, Sweep, cluster

pytestmark = pytest.mark.usefixtures("unmeasured")


@pytest.fixture(scope="module")
def address():
    settings = {
        "distributed.scheduler.allowed-failures": 0,
        "distributed.comm.timeouts.connect": "300s",  # two loaded cores start workers slowly
        "distributed.comm.timeouts.tcp": "300s",
    }
    with (
        dask.config.set(settings),
        LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=True,
            dashboard_address=None,
            memory_limit=0,
        ) as made,
    ):
        yield made.scheduler_address


@pytest.fixture(scope="module")
def sweep(address):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cluster, "_PATIENCE", 60.0)
        with Sweep(cluster=address) as made:
            yield made


def test_results_are_those_of_one_process(sweep):
    numbers = list(range(20))
    with Sweep(workers=1) as one:
        assert sweep.map("square", square, numbers) == one.map("square", square, numbers)


def test_files_travel_with_the_jobs(sweep, tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("content")
    jobs = [Job(f"read {i}", text_of, str(i), (path,)) for i in range(3)]
    assert sweep.run("read", jobs) == ["content0", "content1", "content2"]


def test_another_version_on_a_worker_is_refused():
    with pytest.raises(HeapfitError, match=f"has heapfit {_engine.version}, not 0.0.0"):
        cluster.perform_there("0.0.0", Job("square", square, 1), [])


def test_a_worker_that_dies_costs_a_retry(sweep, tmp_path):
    path, folder = tmp_path / "a.txt", tmp_path / "deaths"
    path.write_text("x")
    folder.mkdir()
    jobs = [
        Job("deadly", die_at_first, (folder, 1)),
        *(Job(str(n), square, n) for n in range(5)),
        *(Job(f"read {i}", text_of, str(i), (path,)) for i in range(2)),
    ]
    assert sweep.run("die", jobs) == [1, 0, 1, 4, 9, 16, "x0", "x1"]


def test_a_result_that_is_lost_with_its_worker_is_made_again(sweep, monkeypatch):
    given, lost = Future.result, iter([True])

    def result(future):
        if next(lost, False):
            raise KilledWorker("square", None, 0)
        return given(future)

    monkeypatch.setattr(Future, "result", result)
    assert sweep.map("square", square, [2, 3]) == [4, 9]


def test_an_error_of_a_job_is_told(address):
    with Sweep(cluster=address) as made, pytest.raises(HeapfitError, match=r"^1 is odd$"):
        made.map("refuse", refuse_odd, [0, 1, 2, 3, 5])


def test_a_job_that_kills_its_workers_ends_the_sweep_and_is_named(address, sweep, tmp_path):
    jobs = [Job("quiet", square, 1), Job("deadly one", die_at_first, (tmp_path, 99))]
    with (
        Sweep(cluster=address) as made,
        pytest.raises(HeapfitError, match="die: deadly one killed its worker"),
    ):
        made.run("die", jobs)
    sweep.map("square", square, [1, 2])  # its workers are there again


def test_commands_print_on_a_cluster_what_they_print_here(address, tmp_path):
    compare = ("compare", bimodal(tmp_path / "b.heap"), "slotbuf:events=500",
               "tlsf", "class_pools", "--json")  # fmt: skip
    runs = (table2(tmp_path / f"{i}.heap", 300, i) for i in (1, 2))
    fit = ("fit", *runs, "--plans", "plans", "--json", "--force")
    for words in (compare, fit, ("simulate", small(tmp_path))):
        here, there = (
            heapfit(*words, *where, folder=tmp_path)
            for where in (("--workers", "1"), ("--workers", address))
        )
        assert (there.returncode, there.stdout, there.stderr) == (0, here.stdout, "")


def closed_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


@pytest.mark.parametrize("words", ["foo://x:1", "tcp://127.0.0.1:PORT"])
def test_a_bad_address_is_one_line_and_exit_code_1(words, tmp_path):
    bad = words.replace("PORT", str(closed_port()))
    done = heapfit("compare", "t2_w1:events=500", "tlsf",
                   "--workers", bad, folder=tmp_path)  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    assert done.stderr.startswith(f"heapfit: {bad}: no Dask scheduler answers")


def certificate(folder: Path, name: str) -> dict[str, str]:
    """A key, and a certificate that vouches for itself, as the settings of Dask have them."""
    files = {"cert": str(folder / f"{name}.pem"), "key": str(folder / f"{name}.key")}
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2",
         "-subj", f"/CN={name}", "-out", files["cert"], "-keyout", files["key"]],
        check=True,
        capture_output=True,
    )  # fmt: skip
    return files


def settings_of(known: dict[str, str]) -> dict[str, str]:
    """Dask's settings of a client that shows a certificate and trusts the same."""
    tls = "distributed.comm.tls"
    shown = {f"{tls}.client.{part}": known[part] for part in ("cert", "key")}
    return {f"{tls}.ca-file": known["cert"], **shown}


@pytest.fixture(scope="module")
def guarded(tmp_path_factory):
    """The address of a cluster that wants certificates, and the one that it knows."""
    known = certificate(tmp_path_factory.mktemp("tls"), "known")
    roles = {
        f"tls_{role}_{part}": known[part]
        for role in ("client", "worker", "scheduler")
        for part in ("cert", "key")
    }
    security = Security(tls_ca_file=known["cert"], require_encryption=True, **roles)
    with LocalCluster(
        n_workers=1,
        threads_per_worker=1,
        processes=False,
        protocol="tls://",
        dashboard_address=":0",
        security=security,
    ) as made:
        yield made.scheduler_address, known


def test_a_cluster_behind_certificates_takes_those_of_dasks_settings(guarded, monkeypatch):
    address, known = guarded
    monkeypatch.setattr(cluster, "_PATIENCE", 60.0)
    with dask.config.set(settings_of(known)), Sweep(cluster=address) as made:
        assert made.map("squares", square, [1, 2, 3]) == [1, 4, 9]


def test_without_a_certificate_it_is_refused(guarded):
    address, _ = guarded
    with pytest.raises(HeapfitError, match="no Dask scheduler answers"):
        Sweep(cluster=address).map("squares", square, [1])


def test_a_certificate_of_another_authority_is_refused(guarded, tmp_path):
    address, _ = guarded
    other = certificate(tmp_path, "other")
    with (
        dask.config.set(settings_of(other)),
        pytest.raises(HeapfitError, match="no Dask scheduler answers"),
    ):
        Sweep(cluster=address).map("squares", square, [1])
