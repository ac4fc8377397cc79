# SPDX-License-Identifier: Apache-2.0
"""The Python blocks of the pages run as they stand, those of a page one after another."""
import pathlib
import re

import pytest

import tcsolve

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.mark.filterwarnings("ignore::tcsolve.CopyWarning")
@pytest.mark.parametrize("page", ["docs/11-from-python.md", "README.md"])
def test_page(page, tmp_path, monkeypatch):
    text = (ROOT / page).read_text()
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.M | re.S)
    assert blocks
    if "skfem" in text:
        pytest.importorskip("skfem")
    monkeypatch.chdir(tmp_path)
    names = {}
    for block in blocks:
        line = text[: text.index(block)].count("\n")
        exec(compile("\n" * line + block, page, "exec"), names)


def test_the_page_names_what_there_is():
    text = (ROOT / "docs/11-from-python.md").read_text()
    for name in re.findall(r"`tcsolve\.(\w+)[`(.]", text):
        assert hasattr(tcsolve, name) or name in ("jax", "skfem", "torch"), name
