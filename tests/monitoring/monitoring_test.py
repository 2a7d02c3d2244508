"""Tests the status page in a real browser, and the metrics in a real Prometheus. `./run monitoring` runs the tests.

Arguments: the headrace command, a Python interpreter that has the package, and (optional) the folder for pictures.
"""

import contextlib
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request

from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

ROOT = pathlib.Path(__file__).resolve().parents[2]
PATIENCE = 60

TRAINER = """
import sys
import headrace as hr

def slow(x):
    return hr.reduce_sum(hr.exp(hr.fill([300_000], hr.cast(x, hr.float32) * 1e-9)))

ds = hr.Dataset.range(1_000_000_000).map(slow).map(lambda x: x + 1).batch(4)
for _ in ds.apply(hr.service.distribute("distributed_epoch", sys.argv[1], job_name="train <b>")):
    pass
"""


@contextlib.contextmanager
def running(*command: str, **options):
    process = subprocess.Popen(command, **options)
    try:
        yield process
    finally:
        process.terminate()
        process.wait(PATIENCE)


def until(good, what: str):
    """The first result of ``good`` that is true."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        with contextlib.suppress(OSError, KeyError, IndexError):
            if out := good():
                return out
        time.sleep(0.2)
    raise AssertionError(f"it did not come: {what}")


def get(url: str) -> str:
    with urllib.request.urlopen(url, timeout=10) as answer:
        return answer.read().decode()


def check_page(url: str, pictures: pathlib.Path | None) -> None:
    options = webdriver.ChromeOptions()
    for flag in ("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    with webdriver.Chrome(options=options, service=Service("/usr/bin/chromedriver")) as browser:
        for name, width, height in (("page", 1100, 1000), ("phone", 400, 1100)):
            # The size of the page is emulated, because the width of a window has a lower bound.
            browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                                    {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600})
            browser.get(url)
            WebDriverWait(browser, PATIENCE).until(
                lambda b: "cause: map" in b.find_element(By.CSS_SELECTOR, "section.job .verdict").text)
            job = browser.find_element(By.CSS_SELECTOR, "section.job")
            assert "job train <b>" in job.text, "names are text, not markup"
            names = [x.text.strip() for x in job.find_elements(By.CSS_SELECTOR, "td.name")]
            assert names == ["batch(4)", "map", "map", "range"], names
            marked = ["cause" in x.get_attribute("class") for x in job.find_elements(By.CSS_SELECTOR, "tr:has(td.name)")]
            assert marked == [False, False, True, False], "the cause is marked, and not what has the same name"
            indents = [x.value_of_css_property("padding-left") for x in job.find_elements(By.CSS_SELECTOR, ".branch")]
            assert len(set(indents)) == 4, f"inputs are indented: {indents}"
            assert len(job.find_elements(By.CSS_SELECTOR, ".bar")) == 4
            heads = [x.text for x in job.find_elements(By.CSS_SELECTOR, "th")]
            assert {"waited", "elements/s", "behind"} <= set(heads), heads
            assert re.search(r"2 workers \(\d+ wanted\), 1 running job,", browser.find_element(By.ID, "service").text)
            assert browser.find_elements(By.XPATH, "//h2[text()='supervision']")
            wide = browser.execute_script("return document.documentElement.scrollWidth")
            assert wide <= width, f"the page is {wide} wide where {width} are to be had"
            # The page updates itself: another status appears without a reload.
            before = browser.find_element(By.ID, "service").text
            WebDriverWait(browser, PATIENCE).until(lambda b: b.find_element(By.ID, "service").text != before)
            if pictures:
                pictures.mkdir(parents=True, exist_ok=True)
                assert browser.save_screenshot(str(pictures / f"{name}.png"))
        severe = [x for x in browser.get_log("browser") if x["level"] == "SEVERE"]
        assert not severe, severe


def check_report(command: str, address: str, folder: str) -> None:
    file = pathlib.Path(folder) / "report.html"
    subprocess.run([command, "report", "train <b>", "-o", str(file), "--dispatcher", address], check=True,
                   stdout=subprocess.DEVNULL)
    options = webdriver.ChromeOptions()
    for flag in ("--headless=new", "--no-sandbox", "--disable-gpu"):
        options.add_argument(flag)
    with webdriver.Chrome(options=options, service=Service("/usr/bin/chromedriver")) as browser:
        browser.get(file.as_uri())
        assert "train <b>" in browser.find_element(By.CSS_SELECTOR, "section.job").text


def check_prometheus(url: str, folder: str) -> None:
    config = (ROOT / "deploy/grafana/prometheus.yml").read_text()
    target = urllib.parse.urlparse(url).netloc
    pathlib.Path(folder, "prometheus.yml").write_text(
        config.replace("127.0.0.1:5051", target).replace("scrape_interval: 5s", "scrape_interval: 1s"))
    log = pathlib.Path(folder, "prometheus.log")
    with log.open("w") as out, running(
            "prometheus", f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/data",
            "--web.listen-address=127.0.0.1:0", stdout=out, stderr=out):
        at = until(lambda: re.search(r'msg="Listening on" address=(\S+)', log.read_text()), "Prometheus listens")[1]

        def query(expression: str) -> list:
            asked = urllib.parse.urlencode({"query": expression})
            return json.loads(get(f"http://{at}/api/v1/query?{asked}"))["data"]["result"]

        until(lambda: query("up == 1"), "a scrape")
        # Prometheus must accept each expression of the dashboard. This service has neither a cache nor a journal, so
        # expressions about these have no value; all others must have one.
        dashboard = json.loads((ROOT / "deploy/grafana/dashboard.json").read_text())
        for panel in dashboard["panels"]:
            for asked in panel["targets"]:
                expression = asked["expr"].replace("$job", ".*")
                result = until(lambda e=expression: [True, query(e)], expression)[1]
                if "cache" not in expression and "journal" not in expression:
                    until(lambda e=expression: query(e), f"a value of {expression}")
                del result
        shares = query("sum by (task, number) (headrace_operator_time_ratio)")
        assert shares and all(abs(float(x["value"][1]) - 1) < 1e-3 for x in shares), "shares sum up to 1"


def main() -> None:
    command, python = sys.argv[1:3]
    pictures = pathlib.Path(sys.argv[3]) if len(sys.argv) > 3 else None
    with tempfile.TemporaryDirectory() as folder, running(
            command, "up", "--workers", "2", "--port", "0", "--http-port", "0", stdout=subprocess.PIPE, text=True,
            stderr=subprocess.DEVNULL) as up:
        address = up.stdout.readline().split()[-1]
        url = up.stdout.readline().split()[-1]
        with running(python, "-c", TRAINER, address):
            until(lambda: json.loads(get(url + "api/status.json"))["jobs"][0]["verdict"]["cause"] == "operator",
                  "a verdict")
            check_page(url, pictures)
            check_report(command, address, folder)
            check_prometheus(url, folder)
    print("the page, the report and the metrics are right")


main()
