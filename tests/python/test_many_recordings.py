# SPDX-License-Identifier: Apache-2.0
"""Many recordings: of a folder, a list, an object store; checked in parts and by a cluster."""

import json
import logging
import os
import signal
import time
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from threading import Thread

import pytest

from heapfit.checks.check import check_recordings
from heapfit.checks.shards import merge, shard_of
from heapfit.cli.fit import parts_of_fit
from heapfit.cli.printing.console import print_json
from heapfit.comparison.incumbents.heap_plans import parse_heap_size
from heapfit.design.effort import Effort
from heapfit.drawing.parts import content_of
from heapfit.errors import HeapfitError
from heapfit.fitting.fit import fit
from heapfit.fitting.options import FitOptions
from heapfit.importers.many import list_recordings
from heapfit.plan.plan_file import load_plan
from heapfit.programs.site_names import find_recorded_program
from heapfit.results.check import check_parts
from heapfit.store_file import StoreFile
from heapfit.sweep import Sweep
from heapfit.trace.stored import Trace
from heapfit.workloads.synthetic import generate_workload, parse_workload
from program import run_heapfit

pytestmark = pytest.mark.usefixtures("unmeasured")

ROOT = Path(__file__).resolve().parents[2]
TRACES = ROOT / "examples/check/traces"
PLAN = ROOT / "examples/check/plan.toml"


def check(*words: object, folder: Path, status: int = 0) -> str:
    done = run_heapfit("check", *words, "--plan", PLAN, folder=folder, environment=os.environ)
    assert done.returncode == status, done.stderr
    return done.stdout


# ---- folders and lists


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "runs/late").mkdir(parents=True)
    for name, link in {"runs/a": "base", "runs/late/b": "clean", "c": "base"}.items():
        (tmp_path / f"{name}.parquet").symlink_to(TRACES / f"{link}.parquet")
    (tmp_path / "runs/.hidden").write_text("no recording")
    (tmp_path / "runs.txt").write_text("# all\nruns\n\nc.parquet\n")
    return tmp_path


@pytest.mark.parametrize(
    ("words", "names"),
    [
        (["runs"], ["a", "b"]),
        (["c.parquet", "runs/late"], ["c", "b"]),
        (["@runs.txt"], ["a", "b", "c"]),
        (["@runs.txt", "@runs.txt"], ["a", "b", "c", "a", "b", "c"]),
    ],
)
def test_a_word_names_a_file_a_folder_or_a_list(folder, monkeypatch, words, names):
    monkeypatch.chdir(folder)
    assert [path.stem for path in list_recordings(words)] == names


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("@none.txt", "none.txt: no such file"),
        ("@empty.txt", "empty.txt: has no recording in it"),
        ("@runs.bin", "runs.bin: is no text"),
        ("https://host/run.parquet", "read from here and from s3, gs, abfs"),
    ],
)
def test_a_word_that_names_no_recording_is_one_line(tmp_path, monkeypatch, word, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty.txt").write_text("# none\n")
    (tmp_path / "runs.bin").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(HeapfitError, match=message):
        list_recordings([word])


def test_check_fit_and_compare_take_a_folder(folder):
    assert json.loads(check("runs", "--json", folder=folder))["prospect"]["runs"] == 2
    for words in (["fit", "runs", "--effort", "quick"], ["compare", "runs", "tlsf"]):
        done = run_heapfit(*words, "--json", folder=folder, environment=os.environ)
        assert done.returncode == 0, done.stderr
        assert {"a", "b"} <= set(json.dumps(json.loads(done.stdout)).replace('"', " ").split())


# ---- parts of a check


def test_parts_joined_are_the_check_of_all_whatever_failed(tmp_path):
    runs = [TRACES / f"{name}.parquet" for name in ("base", "clean", "leak", "keep", "base")]
    limits = ("--base", runs[0], "--growth", "12%")
    for name, part in {"one": runs, "a": runs[:1], "b": runs[1:3], "c": runs[3:]}.items():
        told = check(*part, *limits, "--json", folder=tmp_path, status=3 if name != "a" else 0)
        (tmp_path / f"{name}.json").write_text(told)
    parts = ("--merge", "a.json", "b.json", "c.json")
    assert check(*parts, "--json", folder=tmp_path, status=3) == (tmp_path / "one.json").read_text()
    assert check(*parts, folder=tmp_path, status=3) == check(
        *runs, *limits, folder=tmp_path, status=3
    )


def damage(text: str, **changed: object) -> str:
    content = json.loads(text)
    content["shard"] |= changed
    return json.dumps(content)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"check": "0"}, "was checked by another plan, or by another heapfit"),
        ({"growth": 5.0}, "was checked with another base, --growth or --strict"),
        ({"base": {"name": "x", "peak": 1, "needed": None}}, "with another base"),
        ({"recordings": [{"run": 1}]}, "is no result of `heapfit check --json`"),
        ({"recordings": 7}, "is no result of `heapfit check --json`"),
        ({"base": {"name": "x", "peak": "1", "needed": None}}, "is no result of"),
    ],
)
def test_a_part_of_another_check_is_refused_by_name(tmp_path, change, message):
    told = check(TRACES / "base.parquet", "--json", folder=tmp_path)
    (tmp_path / "a.json").write_text(told)
    (tmp_path / "b.json").write_text(damage(told, **change))
    done = run_heapfit(
        "check", "--merge", "a.json", "b.json", "--plan", PLAN,
        folder=tmp_path, environment=os.environ,
    )  # fmt: skip
    assert done.returncode == 1
    assert done.stderr.startswith("heapfit: b.json: ")
    assert message in done.stderr


def test_merging_takes_nothing_that_only_a_check_can_use(tmp_path):
    for words in (["--strict"], ["--base", TRACES / "base.parquet"], ["--growth", "5%"]):
        check("--merge", "a.json", *words, folder=tmp_path, status=2)


# ---- object stores


ENVIRONMENT = {
    "AWS_ENDPOINT_URL": "",
    "AWS_ACCESS_KEY_ID": "reader",
    "AWS_SECRET_ACCESS_KEY": "secret",
    "AWS_REGION": "us-east-1",
    "AWS_DEFAULT_REGION": "us-east-1",
    "AWS_EC2_METADATA_DISABLED": "true",
}


@pytest.fixture(scope="module")
def store():
    """Requests for a bucket of recordings, counted, by a server of this machine."""
    # Loaded here: they take longer than to collect all other files, in each process of a run.
    import boto3
    from moto.server import ThreadedMotoServer

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0)
    server.start()
    _, port = server.get_host_and_port()
    before = dict(os.environ)
    os.environ.update(ENVIRONMENT, AWS_ENDPOINT_URL=f"http://127.0.0.1:{port}")
    client = boto3.client("s3")
    for bucket in ("devices", "workers"):
        client.create_bucket(Bucket=bucket)
    for name in ("base", "clean", "leak"):
        client.upload_file(str(TRACES / f"{name}.parquet"), "devices", f"runs/{name}.parquet")
    yield client
    server.stop()
    os.environ.clear()
    os.environ.update(before)


@pytest.mark.usefixtures("store")
def test_a_check_of_a_store_is_the_check_of_the_same_files(tmp_path):
    (tmp_path / "runs").symlink_to(TRACES)
    here = check(
        *(f"runs/{n}.parquet" for n in ("base", "clean", "leak")), folder=tmp_path, status=3
    )
    for words in (["s3://devices/runs"], ["s3://devices/runs", "--workers", "2"]):
        assert check(*words, folder=tmp_path, status=3) == here


@pytest.mark.usefixtures("store")
def test_a_file_that_is_not_in_the_store_is_one_line(tmp_path):
    for address in ("s3://devices/none", "s3://nowhere/runs"):
        done = run_heapfit(
            "check", address, "--plan", PLAN, folder=tmp_path, environment=os.environ
        )
        assert done.returncode == 1
        assert done.stderr.startswith(f"heapfit: {address}: ")
        assert len(done.stderr.splitlines()) <= 3


@pytest.mark.usefixtures("store")
def test_no_program_is_looked_for_beside_a_recording_of_a_store():
    (listed,) = list_recordings(["s3://devices/runs/base.parquet"])
    recorded = Trace.open(listed)
    assert recorded.info.program
    assert find_recorded_program(recorded) == ()


def test_a_recording_that_vanishes_or_changes_is_named(store):
    body = (TRACES / "base.parquet").read_bytes()
    store.put_object(Bucket="devices", Key="late/a.parquet", Body=body)
    (listed,) = list_recordings(["s3://devices/late"])
    store.put_object(Bucket="devices", Key="late/a.parquet", Body=body[:-1000])
    with pytest.raises(HeapfitError, match=r"^s3://devices/late/a.parquet: .*has changed"):
        check_recordings([listed], load_plan(PLAN))
    store.delete_object(Bucket="devices", Key="late/a.parquet")
    with pytest.raises(HeapfitError, match=r"^s3://devices/late/a.parquet: "):
        check_recordings([listed], load_plan(PLAN))


COUNT = 1000 if os.environ.get("HEAPFIT_ALL_RECORDINGS") == "1" else 100  # each of its own seed


@pytest.fixture(scope="module")
def fleet(store, tmp_path_factory):
    """The files of as many recordings in the store."""
    folder = tmp_path_factory.mktemp("fleet")
    for seed in range(COUNT):
        spec = parse_workload("t2_w1:events=100", seed)
        made = generate_workload(spec, folder / f"{seed:04}.parquet").path
        body = made.read_bytes()
        store.put_object(Bucket="devices", Key=f"fleet/{made.name}", Body=body)
        store.put_object(Bucket="workers", Key=made.name, Body=body)
        made.unlink()
    return list_recordings(["s3://devices/fleet"])


def alone(fleet):
    """The same recordings where the client has never been."""
    there_alone = [StoreFile(f"s3:/workers/{path.name}") for path in fleet]
    for one, listed in zip(there_alone, fleet, strict=True):
        one.size = listed.size
    return there_alone


def told(checked) -> dict:
    return content_of(check_parts(checked))


def test_many_in_one_call_in_parts_and_by_workers_of_which_one_dies_are_equal(
    fleet, tmp_path, monkeypatch, capsys
):
    plan = parse_heap_size("tlsf:64M")
    assert len(fleet) == COUNT
    with Sweep(workers=1) as here:
        whole = check_recordings(fleet, plan, sweep=here)
        parts = []
        for tenth in range(10):
            part = check_recordings(fleet[tenth * (COUNT // 10) :][: COUNT // 10], plan, sweep=here)
            print_json({"shard": shard_of(part)})
            parts.append(tmp_path / f"{tenth}.json")
            parts[-1].write_text(capsys.readouterr().out)
    assert told(merge(parts, plan)) == told(whole)
    assert whole.events_replayed <= 100 * COUNT

    # The client has no way to the store, the workers have.
    there_alone, workers = alone(fleet), {name: os.environ[name] for name in ENVIRONMENT}
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    with two_workers(workers) as there:
        by_workers = check_recordings(there_alone, plan, sweep=there)
    assert told(by_workers) == told(whole)


@contextmanager
def two_workers(environment):
    """A sweep on a cluster of two, of which one is killed when some ten jobs have been begun."""
    from distributed import LocalCluster  # as above

    with (
        LocalCluster(
            n_workers=2, env=environment, threads_per_worker=1, dashboard_address=None,
            memory_limit=0,
        ) as cluster,
        Sweep(cluster=cluster.scheduler_address) as there,
    ):  # fmt: skip
        victim, *_ = [worker.pid for worker in cluster.workers.values()]

        def kill_one() -> None:
            while cluster.scheduler.transition_counter < 60:
                time.sleep(0.02)
            os.kill(victim, signal.SIGKILL)

        killer = Thread(target=kill_one, daemon=True)
        killer.start()
        yield there
        assert not killer.is_alive()


# ---- a fit of more than are searched


OF_FEW = FitOptions(effort=Effort.QUICK, most_recordings=6, allocators=("tlsf", "best_fit"))


def fit_all(sources, folder, options=OF_FEW, **how):
    """What a fit says of all recordings, and of those that it searched."""
    found = fit(sources, folder, options, **how)
    return found, (found.answer.size, found.plan_file, [run.name for run in found.runs],
                   found.holdout, found.warnings, found.answer.known.load.peaks)  # fmt: skip


def test_a_fit_of_many_is_the_same_here_and_by_workers_of_which_one_dies(
    fleet, tmp_path, monkeypatch
):
    with Sweep(workers=1) as here:
        found, said = fit_all(fleet, tmp_path / "here", sweep=here)
    assert (found.holdout.seen, found.holdout.seen_refused) == (COUNT, 0)
    assert len(found.runs) < COUNT // 2
    assert found.answer.known.load.runs == COUNT
    assert f"of {COUNT:,} recordings were searched" in found.warnings[0]
    assert found.work.events <= 20 * sum(100 for _ in fleet)
    work = content_of(parts_of_fit(found))["work"]  # over the events of all, not of those searched
    assert work["over_trace"] == round(found.work.events / (100 * COUNT), 1)
    # The client has no way to the store: no byte of a recording goes through it.
    there_alone, workers = alone(fleet), {name: os.environ[name] for name in ENVIRONMENT}
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    with two_workers(workers) as there:
        again, said_there = fit_all(there_alone, tmp_path / "there", sweep=there)
    assert said_there == said
    written = [sorted(path.rglob("*")) for path in (tmp_path / "here", tmp_path / "there")]
    assert len({tuple(path.name for path in some) for some in written}) == 1
    assert load_plan(again.paths.plan) == load_plan(found.paths.plan)
    monkeypatch.undo()
    checked = check_recordings(fleet, load_plan(found.paths.plan))
    assert checked.holds


@pytest.mark.parametrize("change", ["another", "another in the store", "gone from the store"])
def test_a_recording_that_a_fit_finds_changed_is_named(store, tmp_path, change):
    (tmp_path / "changing").mkdir()
    is_here = change == "another"

    def put(key: str, name: str) -> None:
        body = (TRACES / f"{name}.parquet").read_bytes()
        (tmp_path / "changing" / f"{key}.parquet").write_bytes(body)
        store.put_object(Bucket="devices", Key=f"changing/{key}.parquet", Body=body)

    def change_them(step: str, _: float) -> None:
        for key in "abc" if step == "replay others" else "":
            if change.startswith("another"):
                put(key, "leak")
            else:
                store.delete_object(Bucket="devices", Key=f"changing/{key}.parquet")

    for key, name in zip("abc", ("base", "clean", "keep"), strict=True):
        put(key, name)
    listed = list_recordings([tmp_path / "changing" if is_here else "s3://devices/changing"])
    with pytest.raises(HeapfitError, match=r"changing/.\.parquet: ") as told:
        fit_all(listed, tmp_path / "out", replace(OF_FEW, most_recordings=2), progress=change_them)
    assert ("changed since it was read first" in str(told.value)) == is_here
    assert ("changed since it was listed" in str(told.value)) == (change == "another in the store")
    assert not (tmp_path / "out").exists()
