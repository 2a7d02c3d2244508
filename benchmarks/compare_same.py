"""Runs the programs of examples/guides with TensorFlow and with headrace, and compares all elements: they must be
equal, or differ by at most the tolerance that a program states.

    python benchmarks/compare_same.py [NAME ...] [--store]

`./run compare --same` installs TensorFlow in an environment and starts this program there. ``--store`` writes the
results of TensorFlow to `tests/python/interface/guide_results.json`. The tests of the Python package compare with that
file, so that they need no TensorFlow.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import sys
import tempfile
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "tests" / "python" / "interface"))
import guides  # noqa: E402


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs="*", metavar="NAME", help="of these programs; otherwise of all")
    parser.add_argument("--store", action="store_true", help="keep what TensorFlow gives for the tests")
    given = parser.parse_args()
    if unknown := set(given.programs) - set(guides.PROGRAMS):
        parser.error(f"there is no program {', '.join(sorted(unknown))}; there are {', '.join(guides.PROGRAMS)}")
    import tensorflow as tf

    stored = json.loads(guides.STORED.read_text()) if guides.STORED.exists() else {"programs": {}}
    stored["origin"] = f"tensorflow {tf.__version__}, kept by ./run compare --same --store"
    wrong = 0
    for name in given.programs or guides.PROGRAMS:
        about = guides.load(name, "headrace")
        unordered, tolerance = getattr(about, "UNORDERED", []), getattr(about, "TOLERANCE", {})
        results = {}
        for library in ("tensorflow", "headrace"):
            begin = time.monotonic()
            with tempfile.TemporaryDirectory() as folder:
                try:
                    results[library] = guides.run(name, library, pathlib.Path(folder))
                except Exception as error:
                    if library == "tensorflow":
                        raise
                    print(f"{name}: {type(error).__name__}: {error}".splitlines()[0])
                    wrong += 1
            print(f"{name:24} {library:12} {time.monotonic() - begin:6.2f} s", flush=True)
        theirs = results["tensorflow"]
        if "headrace" in results and results["headrace"].keys() != theirs.keys():
            print(f"{name}: results {sorted(results['headrace'])}, and {sorted(theirs)} of tensorflow")
            wrong += 1
        for key in theirs if "headrace" in results else ():
            found = guides.difference(results["headrace"].get(key, []), theirs[key], key in unordered,
                                      tolerance.get(key, 0))
            if found:
                print(f"{name}, {key}: {found}")
                wrong += 1
        stored["programs"][name] = {key: guides.summary(elements, key in unordered, tolerance.get(key, 0))
                                    for key, elements in theirs.items()}
    if given.store:
        stored["programs"] = {name: stored["programs"][name] for name in sorted(stored["programs"])
                              if name in guides.PROGRAMS}
        guides.STORED.write_text(json.dumps(stored, indent=1) + "\n")
    print(f"{wrong} differences" if wrong else "no difference")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
