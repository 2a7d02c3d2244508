"""Checks the files of deploy/ against the schemas of the Kubernetes API, the options of the command, and each other.
Environment variables: HELM names the helm program (default: helm in PATH), HEADRACE_COMMAND the headrace command."""

from __future__ import annotations

import json
import os
import pathlib
import re
import shutil
import subprocess

import kubernetes_validate
import pytest
import yaml

ROOT = pathlib.Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
HELM = os.environ.get("HELM") or shutil.which("helm") or ""
COMMAND = os.environ["HEADRACE_COMMAND"]
FILES = ["dispatcher.yaml", "workers.yaml", "network.yaml"]
SCALING = "autoscaling.yaml"
#: The oldest Kubernetes release that has all fields of these files, and the newest that kubernetes_validate supports.
RELEASES = ["1.25", kubernetes_validate.latest_version()]


def objects(text):
    return [x for x in yaml.safe_load_all(text) if x]


def plain():
    return [x for name in FILES for x in objects((DEPLOY / "kubernetes" / name).read_text())]


def charted(*arguments):
    done = subprocess.run([HELM, "template", "headrace", str(DEPLOY / "helm" / "headrace"), "--kube-version", "1.25.0", *arguments],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return objects(done.stdout)


def validate(thing, release):
    kubernetes_validate.validate(thing, release, strict=True)


def by_name(things):
    return {(x["kind"], x["metadata"]["name"]): x for x in things}


needs_helm = pytest.mark.skipif(not HELM, reason="there is no helm")


@pytest.mark.parametrize("release", RELEASES)
def test_TheObjectsAreThoseOfTheApi(release):
    assert len(plain()) == 5
    for thing in plain() + objects((DEPLOY / "kubernetes" / SCALING).read_text()):
        validate(thing, release)


def test_AFieldThatTheApiDoesNotHaveIsFound():
    wrong = plain()[1]
    wrong["spec"]["replica"] = 1
    with pytest.raises(kubernetes_validate.ValidationError):
        validate(wrong, RELEASES[0])


@pytest.mark.parametrize("release", RELEASES)
def test_TheJobsOfTheJobSetAreThoseOfTheApi(release):
    jobset, = objects((DEPLOY / "kubernetes" / "trainers.yaml").read_text())
    assert set(jobset) == {"apiVersion", "kind", "metadata", "spec"} and jobset["kind"] == "JobSet"
    assert set(jobset["spec"]) <= {"replicatedJobs", "network", "successPolicy", "failurePolicy", "startupPolicy", "suspend",
                                   "coordinator", "managedBy", "ttlSecondsAfterFinished"}
    for job in jobset["spec"]["replicatedJobs"]:
        assert set(job) <= {"name", "template", "replicas", "groupName", "dependsOn"}
        validate({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "x"}, **job["template"]}, release)


def containers():
    jobset, = objects((DEPLOY / "kubernetes" / "trainers.yaml").read_text())
    pods = [x["spec"]["template"] for x in plain() if x["kind"] in ("StatefulSet", "Deployment")]
    pods += [x["template"]["spec"]["template"] for x in jobset["spec"]["replicatedJobs"]]
    return [(pod, one) for pod in pods for one in pod["spec"]["containers"]]


def test_TheyFindEachOther():
    services = by_name(plain())
    stateful = services["StatefulSet", "headrace-dispatcher"]
    address = f"{stateful['metadata']['name']}-0.{stateful['spec']['serviceName']}"
    assert ("Service", stateful["spec"]["serviceName"]) in services
    for pod, one in containers():
        variables = {x["name"]: x.get("value") for x in one["env"]}
        if "HEADRACE_SERVICE" in variables:
            assert variables["HEADRACE_SERVICE"] == f"{address}:5050"
        else:
            assert f"--advertise={address}" in one["args"]
        mounts = {x["mountPath"] for x in one["volumeMounts"]}
        for name in ("CERT", "KEY", "CA"):
            assert str(pathlib.Path(variables[f"HEADRACE_TLS_{name}"]).parent) in mounts
        assert {x["name"] for x in one["volumeMounts"]} <= {x["name"] for x in pod["spec"]["volumes"]} | {"work"}
    for policy in (x for x in plain() if x["kind"] == "NetworkPolicy"):
        wanted = policy["spec"]["podSelector"]["matchLabels"]
        labels = [pod["metadata"]["labels"] for pod, _ in containers()]
        assert any(wanted.items() <= x.items() for x in labels)
        # The pods that read the status page have the label headrace/monitor; deploy/ does not define them.
        for source in (x for rule in policy["spec"]["ingress"] for x in rule["from"]):
            assert source["podSelector"]["matchLabels"] == {"headrace/monitor": "true"} or any(source["podSelector"]["matchLabels"].items() <= x.items() for x in labels)


def takes(role, arguments, **variables):
    """Checks that the command accepts these options; returns the settings that it prints."""
    arguments = [x for x in arguments if x != "--python"]
    arguments = [x.replace("$(POD_IP)", "10.0.0.1") for x in arguments]
    done = subprocess.run([COMMAND, "config", role, *arguments], capture_output=True, text=True, env={**os.environ, **variables})
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_TheCommandTakesTheOptions():
    for _, one in containers():
        if one["name"] != "trainer":
            variables = {x["name"]: x["value"] for x in one["env"] if "value" in x}
            takes(one["args"][0], one["args"][1:], **variables)


def started(one, folder, **variables):
    """Starts a container's process on loopback, with its files in `folder`; returns it and its address."""
    here = {"--host=0.0.0.0": "--host=127.0.0.1", "--port=5050": "--port=0", "--data-port=6000": "--data-port=0",
            "--http-port=5051": "--http-port=off"}
    arguments = [here.get(x, x) for x in one["args"] if not x.startswith(("--advertise", "--python"))]
    arguments = [x.replace("/var/lib/headrace", str(folder / "work")) for x in arguments]
    process = subprocess.Popen([COMMAND, *arguments, "--log-level=warn"], stdout=subprocess.PIPE, text=True,
                               env={**os.environ, **variables})
    return process, process.stdout.readline().split()[-1]


def test_ThePodsStartAreReadyAndEndInOrder(tmp_path):
    """Uses the certificates that the script deploy/kubernetes/certificates makes. The script requests a secret of
    kubectl; a program in place of kubectl copies the files that the request names."""
    (tmp_path / "kubectl").write_text(f"#!/bin/sh\nfor x; do case $x in --from-file=*) cp ${{x#--from-file=}} {tmp_path};; esac; done\n")
    (tmp_path / "kubectl").chmod(0o755)
    (tmp_path / "headrace").symlink_to(COMMAND)
    subprocess.run([DEPLOY / "kubernetes" / "certificates"], check=True, env={**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"})
    tls = {f"HEADRACE_TLS_{name}": str(tmp_path / file) for name, file in (("CERT", "host.pem"), ("KEY", "host.key"), ("CA", "ca.pem"))}
    by = {one["name"]: one for _, one in containers()}
    dispatcher, address = started(by["dispatcher"], tmp_path, **tls)
    with dispatcher:
        worker, _ = started(by["worker"], tmp_path, HEADRACE_SERVICE=address, **tls)
        with worker:
            for probe in [by["worker"]["readinessProbe"]] + [by["dispatcher"][x] for x in ("startupProbe", "readinessProbe", "livenessProbe")]:
                command = [x.replace("127.0.0.1:5050", address) for x in probe["exec"]["command"]]
                ready = subprocess.run([COMMAND, *command[1:]], env={**os.environ, "HEADRACE_SERVICE": address, **tls},
                                       capture_output=True, text=True, timeout=60)
                assert command[0] == "headrace" and ready.returncode == 0, ready.stderr
            worker.terminate()
            assert worker.wait(45) == 0
        dispatcher.terminate()
        assert dispatcher.wait(10) == 0
    assert any((tmp_path / "work").iterdir())


@needs_helm
def test_TheChartIsSoundAndMakesTheSameObjects():
    lint = subprocess.run([HELM, "lint", "--strict", "--kube-version", "1.25.0", str(DEPLOY / "helm" / "headrace")], capture_output=True, text=True)
    assert lint.returncode == 0, lint.stdout
    assert by_name(charted()) == by_name(plain())
    scaled = by_name(charted("--set", "workers.autoscaling.enabled=true"))
    scaler, = objects((DEPLOY / "kubernetes" / SCALING).read_text())
    assert scaled["HorizontalPodAutoscaler", "headrace-workers"] == scaler
    assert "replicas" not in scaled["Deployment", "headrace-workers"]["spec"]


def test_TheScalerFollowsAMetricThatThereIs():
    scaler, = objects((DEPLOY / "kubernetes" / SCALING).read_text())
    target = scaler["spec"]["scaleTargetRef"]
    assert (target["kind"], target["name"]) in by_name(plain())
    metric = scaler["spec"]["metrics"][0]["external"]["metric"]["name"]
    text = (ROOT / "docs" / "clusters.md").read_text()
    rule = yaml.safe_load(re.search(r"```yaml\n(externalRules:.*?)```", text, re.DOTALL)[1])["externalRules"][0]
    assert rule["name"]["as"] == metric
    assert rule["seriesQuery"].split("{")[0] in (ROOT / "docs" / "metrics.md").read_text()
    assert rule["seriesQuery"].split("{")[0] in rule["metricsQuery"]


@needs_helm
@pytest.mark.parametrize("release", RELEASES)
def test_TheChartsObjectsAreThoseOfTheApiWithOtherValues(release):
    more = ["--set", "workers.python=false,workers.replicas=7,workers.options={--tag=gpu,--lease=9s},workers.drainSeconds=60",
            "--set", "dispatcher.storageClass=fast,dispatcher.options={--lease=9s},image.pullPolicy=Always,tlsSecret=mine",
            "--set-json", 'workers.volumes=[{"name":"data","hostPath":{"path":"/data"}}]',
            "--set-json", 'workers.volumeMounts=[{"name":"data","mountPath":"/data","readOnly":true}]',
            "--set-json", 'workers.tolerations=[{"key":"gpu","operator":"Exists"}]', "--set", "workers.nodeSelector.pool=data",
            "--set", "networkPolicy.monitorNamespaces.team=ml"]
    made = by_name(charted(*more))
    for thing in made.values():
        validate(thing, release)
    workers = made["Deployment", "headrace-workers"]["spec"]
    pod = workers["template"]["spec"]
    assert workers["replicas"] == 7 and pod["terminationGracePeriodSeconds"] == 75 and pod["volumes"][-1]["name"] == "data"
    assert 'tag = ["gpu"]' in takes("worker", pod["containers"][0]["args"][1:])
    monitors = made["NetworkPolicy", "headrace-dispatcher"]["spec"]["ingress"][1]["from"][0]
    assert monitors["namespaceSelector"] == {"matchLabels": {"team": "ml"}}
    assert ("NetworkPolicy", "headrace-workers") not in by_name(charted("--set", "networkPolicy.enabled=false"))


@needs_helm
@pytest.mark.parametrize("value, named", [
    ("worker.replicas=3", "worker"), ("workers.replica=3", "replica"), ("workers.replicas=many", "replicas"),
    ("dispatcher.port=0", "port"), ("tlsSecret=", "tlsSecret"), ("image.pullPolicy=never", "pullPolicy"), ("workers.options=--tag=gpu", "options"),
])
def test_AValueThatTheChartDoesNotTakeIsNamed(value, named):
    done = subprocess.run([HELM, "template", "headrace", str(DEPLOY / "helm" / "headrace"), "--kube-version", "1.25.0", "--set", value],
                          capture_output=True, text=True)
    assert done.returncode != 0 and "values don't meet the specifications of the schema" in done.stderr and named in done.stderr, done.stderr


def test_TheSchemaOfTheChartHasEachValue():
    def keys(x):
        return {k: keys(v) for k, v in x.get("properties", {}).items()} if isinstance(x, dict) else {}

    def same(values, schema):
        return all(k in schema and (not schema[k] or not isinstance(v, dict) or same(v, schema[k])) for k, v in values.items())

    chart = DEPLOY / "helm" / "headrace"
    schema = keys(json.loads((chart / "values.schema.json").read_text()))
    assert same(yaml.safe_load((chart / "values.yaml").read_text()), schema)
    assert not same({"workers": {"replica": 1}}, schema)


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="there is no systemd-analyze")
def test_TheUnitsAreSound(tmp_path):
    for file in (DEPLOY / "systemd").glob("*.service"):
        text = file.read_text()
        assert text.count("/opt/headrace/bin/headrace") == 1
        # systemd-analyze checks that the program of a unit exists, so the copy of the unit names COMMAND.
        (tmp_path / file.name).write_text(text.replace("/opt/headrace/bin/headrace", COMMAND))
    units = [tmp_path / "headrace-dispatcher.service", tmp_path / "headrace-worker@1.service"]
    for unit in units:
        done = subprocess.run(["systemd-analyze", "verify", "--man=no", "--recursive-errors=no", str(unit)], capture_output=True, text=True,
                              timeout=60)
        assert done.returncode == 0 and "headrace" not in done.stderr, done.stderr


def test_TheCommandTakesTheOptionsOfTheUnits():
    for file in (DEPLOY / "systemd").glob("*.service"):
        line, = re.findall(r"^ExecStart=((?:.*\\\n)*.*)", file.read_text(), re.MULTILINE)
        _, role, *arguments = line.replace("\\\n", " ").split()
        values = {"${STATE_DIRECTORY}": "/s", "${CREDENTIALS_DIRECTORY}": "/c"}
        arguments = [re.sub(r"\$\{\w+\}", lambda x: values[x[0]], one) for one in arguments]
        takes(role, arguments, HEADRACE_SERVICE="data-0:5050")


def test_TheImageIsMadeOfTheWheelAlone():
    text = (DEPLOY / "docker" / "Dockerfile").read_text()
    assert re.findall(r"^COPY (?!--from)(.*)", text, re.MULTILINE) == ["headrace-*.whl /tmp/"]
    uid, = re.findall(r"^USER (\d+)", text, re.MULTILINE)
    assert {pod["spec"]["securityContext"]["runAsUser"] for pod, _ in containers()} == {int(uid)}
