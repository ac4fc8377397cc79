# SPDX-License-Identifier: Apache-2.0
"""The Python blocks of the pages run as they stand, those of a page one after another."""
import importlib.util
import pathlib
import re

import pytest

import tcsolve

ROOT = pathlib.Path(__file__).resolve().parents[2]


OPTIONAL = ("skfem", "torch", "jax", "cupy")


def packages_of(block):
    """Those that a block imports and that may be missing."""
    imported = re.findall(r"^(?:import|from) (.*)", block, re.M)
    return [p for p in OPTIONAL if any(re.search(rf"(?<![.\w]){p}\b", line) for line in imported)]


def is_here(package):
    if package == "cupy" and tcsolve.devices() == ["host"]:
        return False
    return importlib.util.find_spec(package) is not None


@pytest.mark.filterwarnings("ignore::tcsolve.CopyWarning")
@pytest.mark.parametrize("page", ["docs/11-from-python.md", "README.md"])
def test_page(page, tmp_path, monkeypatch):
    """But for blocks of packages that are not here, of which the next test tells."""
    text = (ROOT / page).read_text()
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.M | re.S)
    assert blocks
    monkeypatch.chdir(tmp_path)
    names = {}
    for block in blocks:
        if not all(map(is_here, packages_of(block))):
            continue
        line = text[: text.index(block)].count("\n")
        exec(compile("\n" * line + block, page, "exec"), names)


@pytest.mark.parametrize("package", OPTIONAL)
def test_a_package_has_a_block(package):
    text = (ROOT / "docs/11-from-python.md").read_text()
    (block,) = [b for b in re.findall(r"^```python\n(.*?)^```", text, re.M | re.S)
                if package in packages_of(b)]
    assert len(block.splitlines()) <= 20
    if not is_here(package):
        pytest.skip(f"the block of {package} has not been run: it is not here")


FEM = (ROOT / "docs/13-in-fem-codes.md").read_text()


@pytest.mark.parametrize("package", ["skfem", "petsc4py", "dolfinx"])
def test_fem_codes(package, monkeypatch):
    """Blocks of packages that are here; each stands by itself."""
    module = pytest.importorskip(package)
    if package == "dolfinx" and not hasattr(module.fem, "functionspace"):
        monkeypatch.setattr(module.fem, "functionspace", module.fem.FunctionSpace, raising=False)
    blocks = re.findall(r"^```python\n(.*?)^```", FEM, re.M | re.S)
    (block,) = [b for b in blocks if f"import {package}" in b or f"from {package}" in b]
    assert len(block.splitlines()) <= 20
    exec(compile(block, "docs/13-in-fem-codes.md", "exec"), {})


@pytest.mark.parametrize("section, program", [
    ("deal.II", "dealii/beside_dealii.cpp"), ("MFEM", "mfem/solves.cpp"), ("PETSc", "petsc/solves.c")])
def test_what_is_compiled_elsewhere(section, program):
    """Every line of a block of C or C++ stands in the program that is built with that package."""
    source = "".join((ROOT / "tests/install" / program).read_text().split())
    block = re.search(rf"^## {section}$.*?^```c(?:pp)?\n(.*?)^```", FEM, re.M | re.S).group(1)
    for line in block.splitlines():
        assert "".join(line.partition("//")[0].split()) in source, line


def test_the_page_names_what_there_is():
    text = (ROOT / "docs/11-from-python.md").read_text()
    for name in re.findall(r"`tcsolve\.(\w+)[`(.]", text):
        assert hasattr(tcsolve, name) or name in ("jax", "skfem", "torch"), name
