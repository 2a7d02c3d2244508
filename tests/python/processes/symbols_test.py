"""The extension uses its own symbols, even if libraries of other packages have symbols of the same names."""

from __future__ import annotations

import subprocess

import headrace as hr
from programs import finish, start


def test_TheExtensionShowsOthersNothingButItsEntry():
    out = subprocess.run(["nm", "-D", "--defined-only", hr._core.__file__], check=True, capture_output=True, text=True)
    assert [line.split()[-1] for line in out.stdout.splitlines()] == ["PyInit__core"]


def test_LoadingItLeavesTheInterpretersFlagsAlone():
    child = start("""
        import sys
        before = sys.getdlopenflags()
        import headrace
        print(sys.getdlopenflags() == before)
    """)
    assert finish(child) == (0, "True\n", "")


def test_AnothersLibraryOfTheSameNamesIsNotTaken(tmp_path):
    # A library of another package may define the same symbols: TensorFlow, for example, has a copy of RE2, whose
    # objects have another layout.
    undefined = subprocess.run(["nm", "-D", "--undefined-only", hr._core.__file__], check=True, capture_output=True,
                               text=True).stdout
    names = [name for name in (line.split()[-1].partition("@")[0] for line in undefined.splitlines())
             if name.startswith(("_ZN3re2", "_ZNK3re2", "EVP_", "inflate", "snappy_"))]
    assert len(names) > 3
    (tmp_path / "other.c").write_text("void abort(void);\n" + "".join(f"void {name}() {{ abort(); }}\n" for name in names))
    library = str(tmp_path / "other.so")
    subprocess.run(["cc", "-w", "-fno-builtin", "-shared", "-fPIC", "-o", library, str(tmp_path / "other.c")], check=True)
    child = start(f"""
        import ctypes, sys
        ctypes.CDLL({library!r}, mode=ctypes.RTLD_GLOBAL)
        import headrace as hr
        ds = hr.Dataset.from_tensors("a1").map(lambda s: hr.strings.regex_replace(s, "[0-9]", "#"))
        print(next(iter(ds)), len(ds._graph.fingerprint()))
    """)
    assert finish(child) == (0, "b'a#' 64\n", "")
