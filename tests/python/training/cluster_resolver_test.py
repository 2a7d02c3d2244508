"""Cluster resolvers, and cluster addresses, by which workers and programs find their dispatcher."""

from __future__ import annotations

import contextlib
import http.server
import json
import os
import re
import ssl
import subprocess
import sys
import threading
import types
import urllib.parse

import pytest

import headrace as hr
from headrace.distribute import cluster_resolver as cr

COMMAND = os.environ.get("HEADRACE_COMMAND", "")
needs_command = pytest.mark.skipif(not COMMAND, reason="HEADRACE_COMMAND is not set")


class ApiServer:
    """A server in place of the API server of Kubernetes. It answers requests for a list of pods with each of
    `answers` in turn, and all later requests with the last one.
    """

    def __init__(self, folder, *answers, certificate=None):
        self.asked = []
        self.tokens = []
        (folder / "namespace").write_text("training\n")
        outer, left = self, list(answers)

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                outer.asked.append(self.path)
                outer.tokens.append(self.headers.get("Authorization"))
                code, body = left.pop(0) if len(left) > 1 else left[0]
                text = json.dumps(body).encode()
                self.send_response(code)
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.variables = {"KUBERNETES_API": f"http://127.0.0.1:{self.server.server_port}", "KUBERNETES_ACCOUNT": str(folder)}
        if certificate is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*certificate)
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
            self.variables = {"KUBERNETES_SERVICE_HOST": "127.0.0.1", "KUBERNETES_ACCOUNT": str(folder),
                              "KUBERNETES_SERVICE_PORT": str(self.server.server_port)}
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


def pods(*described):
    return 200, {"items": [{"metadata": {"name": n}, "status": {"phase": p, **({"podIP": ip} if ip else {})}}
                           for n, p, ip in described]}


def test_ClusterSpecsAndUnionsAreAsDocumented():
    spec = cr.ClusterSpec({"worker": ["a:1", "b:1"], "ps": {3: "c:1"}})
    assert cr.ClusterSpec(spec) == spec and spec.as_dict() == {"worker": ["a:1", "b:1"], "ps": {3: "c:1"}}
    assert spec.job_tasks("ps") == [None, None, None, "c:1"] and spec.task_indices("ps") == [3]
    with pytest.raises(ValueError, match="there is: ps, worker"):
        spec.num_tasks("chief")
    with pytest.raises(ValueError, match="no task 2"):
        spec.task_address("worker", 2)
    simple = cr.SimpleClusterResolver
    union = cr.UnionResolver(simple({"w": ["a:1"]}, task_type="w", task_id=0, rpc_layer="grpc"), simple({"w": {1: "b:1"}}))
    assert union.cluster_spec().job_tasks("w") == ["a:1", "b:1"] and union.master("w", 1) == "grpc://b:1"
    with pytest.raises(KeyError):
        cr.UnionResolver(simple({"w": ["a:1"]}), simple({"w": {0: "b:1", 2: "c:1"}})).cluster_spec()
    with pytest.raises(ValueError):
        cr.UnionResolver()
    with pytest.raises(TypeError):
        cr.UnionResolver(spec)


def test_TFConfigGivesClusterAndTask(monkeypatch):
    monkeypatch.setenv("TF_CONFIG", json.dumps({"cluster": {"worker": ["a:1", "b:1"]}, "rpc_layer": "grpc",
                                                "task": {"type": "worker", "index": "1"}}))
    resolver = cr.TFConfigClusterResolver()
    assert (resolver.task_type, resolver.task_id, resolver.rpc_layer) == ("worker", 1, "grpc")
    assert resolver.master() == "grpc://b:1" and cr.TFConfigClusterResolver(task_id=0).master() == "grpc://a:1"
    monkeypatch.setenv("TF_CONFIG", "{")
    with pytest.raises(ValueError, match="TF_CONFIG"):
        cr.TFConfigClusterResolver()


def test_SlurmNamesTheVariableThatIsMissingOrWrong(monkeypatch):
    right = {"SLURM_PROCID": "0", "SLURM_STEP_NUM_TASKS": "2", "SLURM_STEP_NODELIST": "n[1-2]",
             "SLURM_STEP_TASKS_PER_NODE": "1(x2)"}
    for name in right:
        for wrong in (None, "]["):
            for other, value in right.items():
                monkeypatch.setenv(other, value)
            monkeypatch.delenv(name) if wrong is None else monkeypatch.setenv(name, wrong)
            with pytest.raises(RuntimeError, match=name):
                cr.SlurmClusterResolver()
        monkeypatch.setenv(name, right[name])
    resolver = cr.SlurmClusterResolver()
    assert resolver.cluster_spec().as_dict() == {"worker": ["n1:8888", "n2:8888"]}
    assert resolver.get_task_info() == ("worker", 0) and resolver.master() == "grpc://n1:8888"
    with pytest.raises(RuntimeError, match="3 tasks are asked for"):
        cr.SlurmClusterResolver({"worker": 3})


def test_KubernetesGivesThePodsOfEachSelector(tmp_path, monkeypatch):
    with ApiServer(tmp_path, pods(("b", "Running", "10.0.0.2"), ("a", "Running", "10.0.0.1")),
                   pods(("c", "Pending", "")), (403, {"message": "pods is forbidden"}), (200, {})) as api:
        for name, value in api.variables.items():
            monkeypatch.setenv(name, value)
        resolver = cr.KubernetesClusterResolver({"worker": ["app in (x,y)"]}, tf_server_port=9)
        assert resolver.cluster_spec().as_dict() == {"worker": ["10.0.0.1:9", "10.0.0.2:9"]}
        assert urllib.parse.unquote(api.asked[0]) == "/api/v1/namespaces/training/pods?labelSelector=app in (x,y)"
        for text in ("pod c .* is Pending", "403 .*forbidden", "no list of pods"):
            with pytest.raises(RuntimeError, match=text):
                resolver.cluster_spec()
        with pytest.raises(ValueError, match="set task_type and task_id"):
            resolver.master()
    monkeypatch.setenv("KUBERNETES_ACCOUNT", str(tmp_path / "nowhere"))
    with pytest.raises(RuntimeError, match="KUBERNETES_ACCOUNT"):
        resolver.cluster_spec()
    monkeypatch.delenv("KUBERNETES_API")
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    with pytest.raises(RuntimeError, match="KUBERNETES_SERVICE_HOST"):
        resolver.cluster_spec()


def test_AClientIsUsedInPlaceOfTheApiServer():
    pod = types.SimpleNamespace(metadata=types.SimpleNamespace(name="a"),
                                status=types.SimpleNamespace(phase="Running", pod_ip="10.0.0.1"))
    client = types.SimpleNamespace(list_pod_for_all_namespaces=lambda label_selector: types.SimpleNamespace(
        items=[pod] if label_selector == "app=x" else []))
    resolver = cr.KubernetesClusterResolver({"worker": ["app=x", "app=y"]}, override_client=client)
    assert resolver.master("worker", 0) == "grpc://10.0.0.1:8470"


# -- the command ------------------------------------------------------------------------------------------------------


def environment(**more):
    return {**{k: v for k, v in os.environ.items() if not k.startswith(("SLURM", "KUBERNETES", "TF_CONFIG"))}, **more}


@contextlib.contextmanager
def worker(address, **variables):
    process = subprocess.Popen([COMMAND, "worker", "--dispatcher", address], env=environment(**variables),
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        yield process
    finally:
        process.terminate()
        process.communicate(timeout=30)


def failure(address, *arguments, **variables):
    done = subprocess.run([COMMAND, "worker", "--dispatcher", address, *arguments], env=environment(**variables),
                          capture_output=True, text=True, timeout=60)
    return done.returncode, done.stderr


def reads_through_one_worker(dispatcher):
    ds = hr.Dataset.range(9).apply(hr.service.distribute("distributed_epoch", dispatcher.target))
    assert sorted(int(x) for x in ds) == list(range(9))


@needs_command
def test_AWorkerFindsItsDispatcherByTFConfigAndSlurm():
    with hr.service.DispatchServer() as dispatcher:
        port = dispatcher.target.rsplit(":", 1)[1]
        config = json.dumps({"cluster": {"dispatcher": [f"127.0.0.1:{port}"]}})
        with worker("tf-config:", TF_CONFIG=config):
            reads_through_one_worker(dispatcher)
    with hr.service.DispatchServer() as dispatcher:
        port = dispatcher.target.rsplit(":", 1)[1]
        with worker(f"slurm:{port}", SLURM_JOB_NODELIST="127.0.0.[1-3]"):
            reads_through_one_worker(dispatcher)


# -- addresses in programs ------------------------------------------------------------------------------------------------


@pytest.fixture
def clean(monkeypatch):
    for name in list(os.environ):
        if name.startswith(("SLURM", "KUBERNETES", "TF_CONFIG", "HEADRACE_SERVICE")):
            monkeypatch.delenv(name)
    return monkeypatch


def test_AProgramFindsItsDispatcherAsTheCommandDoes(clean, tmp_path):
    with hr.service.DispatchServer() as dispatcher:
        port = dispatcher.target.rsplit(":", 1)[1]
        clean.setenv("TF_CONFIG", json.dumps({"cluster": {"dispatcher": [f"127.0.0.1:{port}"]}}))
        clean.setenv("SLURM_JOB_NODELIST", "127.0.0.[1-3],other")
        with ApiServer(tmp_path, pods(("a", "Pending", ""), ("b", "Running", "127.0.0.1"))) as api, \
                hr.service.WorkerServer(hr.service.WorkerConfig(f"slurm:{port}")):
            for name, value in api.variables.items():
                clean.setenv(name, value)
            for service in ("tf-config:", f"slurm:{port}", f"kubernetes:app=dispatcher:{port}", ("grpc", f"slurm:{port}")):
                ds = hr.Dataset.range(9).apply(hr.service.distribute("distributed_epoch", service))
                assert sorted(int(x) for x in ds) == list(range(9))
            assert len(hr.service.status(f"slurm:{port}")["workers"]) == 1
            clean.setenv("HEADRACE_SERVICE", f"slurm:{port}")
            ds = hr.Dataset.range(9).apply(hr.service.distribute("distributed_epoch", None))
            assert sorted(int(x) for x in ds) == list(range(9))


@pytest.mark.parametrize("address, variables, error, text", [
    ("tf-config:", {}, hr.errors.FailedPreconditionError, "TF_CONFIG is not set"),
    ("tf-config:", {"TF_CONFIG": "[]"}, hr.errors.InvalidArgumentError, "must be JSON"),
    ("tf-config:", {"TF_CONFIG": '{"cluster": {"ps": ["a:1"]}}'}, hr.errors.FailedPreconditionError,
     "no job 'dispatcher'; there is: ps"),
    ("tf-config:ps", {"TF_CONFIG": '{"cluster": {"ps": ["a"]}}'}, hr.errors.InvalidArgumentError, "the job 'ps'"),
    ("slurm:", {}, hr.errors.FailedPreconditionError, "SLURM_JOB_NODELIST"),
    ("slurm:x", {"SLURM_JOB_NODELIST": "a"}, hr.errors.InvalidArgumentError, "'x' is no port"),
    ("slurm:", {"SLURM_JOB_NODELIST": "a[1"}, hr.errors.InvalidArgumentError, "no list of hosts"),
    ("kubernetes:", {}, hr.errors.InvalidArgumentError, "a selector is missing"),
    ("kubernetes:app=x", {}, hr.errors.UnavailableError, "KUBERNETES"),
])
def test_AnAddressThatIsNotFoundNamesWhatIsMissing(clean, address, variables, error, text):
    for name, value in variables.items():
        clean.setenv(name, value)
    with pytest.raises(error, match=f"{address}: .*{text}"):
        hr.service.distribute("distributed_epoch", address)


def test_APodThatDoesNotRunIsNoDispatcher(clean, tmp_path):
    with ApiServer(tmp_path, pods(("d", "Pending", ""))) as api:
        for name, value in api.variables.items():
            clean.setenv(name, value)
        with pytest.raises(hr.errors.UnavailableError, match="no pod with app=x is Running"):
            hr.service.distribute("distributed_epoch", "kubernetes:app=x")


def test_ClusterSpecHasItsNameInTrain():
    assert hr.train.ClusterSpec is cr.ClusterSpec
    assert hr.train.ClusterSpec({"worker": ["a:1", "b:1"]}).num_tasks("worker") == 2


# -- the command, again -------------------------------------------------------------------------------------------------


@needs_command
def test_AWorkerOfPythonFindsItsDispatcherBySlurm():
    with hr.service.DispatchServer() as dispatcher:
        port = dispatcher.target.rsplit(":", 1)[1]
        process = subprocess.Popen([sys.executable, "-m", "headrace", "worker", "--python", "--dispatcher", f"slurm:{port}"],
                                   env=environment(SLURM_JOB_NODELIST="127.0.0.[1-3]"), stdout=subprocess.PIPE, text=True)
        try:
            reads_through_one_worker(dispatcher)
        finally:
            process.terminate()
            process.communicate(timeout=30)


@needs_command
def test_AWorkerWaitsUntilThePodOfItsDispatcherRuns(tmp_path):
    with hr.service.DispatchServer() as dispatcher:
        port = dispatcher.target.rsplit(":", 1)[1]
        with ApiServer(tmp_path, pods(), pods(("d", "Pending", "")), (503, {}), pods(("d", "Running", "127.0.0.1"))) as api, \
                worker(f"kubernetes:app=dispatcher:{port}", **api.variables):
            reads_through_one_worker(dispatcher)
            assert len(api.asked) == 4
            assert re.search(r"namespaces/training/pods\?labelSelector=app%3Ddispatcher$", api.asked[0])


@needs_command
def test_AWorkerThatCannotFindItsDispatcherNamesWhatIsMissing(tmp_path):
    for address, variables, text in (
            ("tf-config:", {}, "TF_CONFIG is not set"),
            ("tf-config:", {"TF_CONFIG": '{"cluster": {"ps": ["a:1"]}}'}, "no job 'dispatcher'; there is: ps"),
            ("tf-config:ps", {"TF_CONFIG": '{"cluster": {"ps": ["a"]}}'}, "the job 'ps'"),
            ("slurm:", {}, "SLURM_JOB_NODELIST"), ("slurm:x", {"SLURM_JOB_NODELIST": "a"}, "'x' is no port"),
            ("slurm:", {"SLURM_JOB_NODELIST": "a[1"}, "brackets"),
            ("kubernetes:app=x", {}, "KUBERNETES_SERVICE_HOST is not set"),
            ("kubernetes:", {}, "a selector is missing"),
            ("kubernetes:app=x", {"KUBERNETES_SERVICE_HOST": "127.0.0.1", "KUBERNETES_ACCOUNT": str(tmp_path / "none")},
             "namespace is missing or empty")):
        code, said = failure(address, **variables)
        assert code != 0 and text in said, said
    with ApiServer(tmp_path, (403, {"message": "pods is forbidden"})) as api:
        code, said = failure("kubernetes:app=x", **api.variables)
        assert code != 0 and "answers 403" in said and "pods is forbidden" in said
    with ApiServer(tmp_path, pods(("d", "Pending", ""))) as api:
        code, said = failure("kubernetes:app=x", "--dispatcher-timeout", "10ms", **api.variables)
        assert code == 4 and "d is Pending" in said and "--dispatcher-timeout" in said


@needs_command
def test_TheApiServerOfAPodIsAskedByTlsWithTheTokenOfItsAccount(clean, tmp_path):
    for name in ("its", "other"):
        subprocess.run([COMMAND, "certificates", str(tmp_path / name), "--name", "127.0.0.1"], check=True)
    (tmp_path / "token").write_text("some.token\n")
    its = tmp_path / "its"
    with ApiServer(tmp_path, pods(("d", "Running", "127.0.0.1")),
                   certificate=(its / "127.0.0.1.pem", its / "127.0.0.1.key")) as api:
        for name, value in api.variables.items():
            clean.setenv(name, value)
        resolver = cr.KubernetesClusterResolver({"worker": ["app=dispatcher"]})
        (tmp_path / "ca.crt").write_text((tmp_path / "other" / "ca.pem").read_text())
        with pytest.raises(RuntimeError, match="CERTIFICATE_VERIFY_FAILED"):
            resolver.cluster_spec()
        (tmp_path / "ca.crt").write_text((its / "ca.pem").read_text())
        assert resolver.cluster_spec().as_dict() == {"worker": ["127.0.0.1:8470"]}
        dispatcher = hr.service.DispatchServer()
        port = dispatcher.target.rpartition(":")[2]
        with worker(f"kubernetes:app=dispatcher:{port}", **api.variables):
            reads_through_one_worker(dispatcher)
        assert set(api.tokens) == {"Bearer some.token"} and len(api.tokens) >= 2
        dispatcher.stop()
