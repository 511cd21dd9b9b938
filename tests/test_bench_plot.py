"""`flashmetal.bench.plot`: charts in files that need nothing else to be shown."""

import re
import sys
from xml.etree import ElementTree

import pytest

from flashmetal.bench import plot
from flashmetal.bench.plot import Bars, Lines
from flashmetal.errors import InvalidArgument, IoError, UnsupportedFeature

CHARTS = [
    Lines("Time of N", "N", "µs", {"ours": [(1, 2.0), (4, 3.0)]}, x_base=2),
    Bars("Ratios <&>", "ratio", {"first": 0.5, "second": 2.0}, {"second": 1.5}),
]


@pytest.fixture(autouse=True)
def matplotlib():
    return pytest.importorskip("matplotlib", reason="--plot needs it")


def test_svg_is_well_formed_and_the_same_each_time(tmp_path):
    paths = [tmp_path / name for name in ("a.svg", "b.svg")]
    for path in paths:
        plot.write(path, "title", CHARTS)
    assert paths[0].read_text() == paths[1].read_text()
    assert ElementTree.parse(paths[0]).getroot().tag.endswith("svg")


def test_page_holds_the_charts_and_reaches_for_nothing(tmp_path):
    path = tmp_path / "page.html"
    plot.write(path, "a < b", CHARTS)
    page = path.read_text()
    assert "<h1>a &lt; b</h1>" in page
    assert page.count("<svg") == 1
    assert re.findall(r"(?:src|href)=\"(?!#)", page) == []


def test_other_kinds_of_file_are_refused(tmp_path):
    with pytest.raises(
        InvalidArgument, match=r"--plot: .*figures\.pdf must end in \.svg or \.html"
    ):
        plot.check(tmp_path / "figures.pdf")


def test_a_missing_folder_is_refused(tmp_path):
    with pytest.raises(IoError, match=r"--plot: no folder .*none for figures\.svg: make it first"):
        plot.check(tmp_path / "none" / "figures.svg")


def test_a_file_that_cannot_be_written_is_an_error(tmp_path):
    (tmp_path / "folder.svg").mkdir()
    with pytest.raises(IoError, match=r"cannot write .*folder\.svg: Is a directory"):
        plot.write(tmp_path / "folder.svg", "title", CHARTS)


def test_missing_matplotlib_is_an_error_that_names_the_extra(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(UnsupportedFeature, match=r"pip install 'flashmetal\[plot\]'"):
        plot.check(tmp_path / "figures.svg")
