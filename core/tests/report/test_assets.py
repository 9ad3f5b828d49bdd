"""The styles and scripts as they are shipped."""

import os
import re
import subprocess
import sys
import sysconfig
import zipfile
from importlib import resources
from pathlib import Path

import pytest

ASSETS = sorted(
    (each for each in (resources.files("hornbook.report") / "assets").iterdir() if each.is_file()),
    key=lambda each: each.name,
)
TEXTS = {each.name: each.read_text(encoding="utf-8") for each in ASSETS}
SINKS = r"innerHTML|outerHTML|insertAdjacent|document\.write|\beval\b|Function\(|setAttribute\(.on"
FETCHES = r"fetch|XMLHttp|WebSocket|EventSource|sendBeacon|import|Worker|localStorage|cookie|\.src"
STYLES = r"url\(|@import|@font-face|expression|behavior"


@pytest.mark.requirement("report:assets:small")
def test_all_own_code_is_small():
    assert sum(len(text.encode()) for text in TEXTS.values()) < 60_000


@pytest.mark.requirement("report:assets:small")
def test_a_page_is_little_more_than_its_assets_and_its_data(make):
    assert len(make()) < 60_000


@pytest.mark.requirement("report:assets:still")
@pytest.mark.parametrize("name", [name for name in TEXTS if name.endswith(".js")])
def test_a_script_parses_no_markup_and_loads_nothing(name):
    code = re.sub(r"//.*", "", TEXTS[name])
    assert re.findall(f"{SINKS}|{FETCHES}", code) == []
    assert TEXTS[name].startswith('"use strict";\n')


@pytest.mark.requirement("report:assets:still")
@pytest.mark.parametrize("name", [name for name in TEXTS if name.endswith(".css")])
def test_a_style_loads_nothing(name):
    assert re.findall(STYLES, TEXTS[name]) == []


def colours(block):
    return dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{3,6})", block))


def luminance(colour):
    digits = colour[1:] if len(colour) == 7 else "".join(2 * digit for digit in colour[1:])
    parts = [int(digits[at : at + 2], 16) / 255 for at in (0, 2, 4)]
    linear = [
        part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


ROOTS = re.findall(r":root \{(.*?)\}", TEXTS["page.css"], re.DOTALL)
LIGHT, DARK, PRINT = map(colours, ROOTS)
TEXT_ON = [
    *((text, ground) for text in ("ink", "soft") for ground in ("ground", "surface", "raised")),
    *(("accent", ground) for ground in ("ground", "surface")),
    *((tone, ground) for tone in ("ok", "warning", "error") for ground in ("surface",)),
    *((tone, f"{tone}-ground") for tone in ("ok", "warning", "error")),
]
LINE_ON = [("edge", "surface"), ("soft", "surface"), ("focus", "surface"), ("focus", "ground")]


@pytest.mark.requirement("report:assets:contrast")
@pytest.mark.parametrize("theme", [LIGHT, DARK, LIGHT | PRINT], ids=["light", "dark", "print"])
def test_text_has_the_contrast_of_wcag_aa(theme):
    weak = {pair for pair in TEXT_ON if contrast(*(theme[name] for name in pair)) < 4.5}
    weak |= {pair for pair in LINE_ON if contrast(*(theme[name] for name in pair)) < 3}
    assert weak == set()


@pytest.mark.requirement("report:import:light")
def test_importing_the_package_loads_none_of_it():
    code = (
        "import sys, hornbook.report as report\n"
        "loaded = [name for name in sys.modules if name.startswith('hornbook.report.')]\n"
        "assert loaded == [], loaded\n"
        "assert [callable(getattr(report, name)) for name in report.__all__]\n"
        "assert not {'pydantic', 'asyncio', 'importlib.metadata'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.requirement("report:import:light")
def test_each_public_name_stands_for_the_object_whatever_is_imported_first():
    code = (
        "import importlib, pkgutil, types, hornbook.report as report\n"
        "for each in pkgutil.iter_modules(report.__path__, 'hornbook.report.'):\n"
        "    importlib.import_module(each.name)\n"
        "names = [n for n in report.__all__ if isinstance(getattr(report, n), types.ModuleType)]\n"
        "assert names == [], names\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.ci
@pytest.mark.requirement("report:assets:wheel")
def test_the_wheel_contains_them(tmp_path, monkeypatch):
    uv_build = pytest.importorskip("uv_build", reason="the build backend is not installed")
    monkeypatch.chdir(Path(__file__).parents[2])
    # The backend is looked for on the path, where this environment need not be.
    monkeypatch.setenv("PATH", sysconfig.get_path("scripts"), prepend=os.pathsep)
    wheel = zipfile.ZipFile(tmp_path / uv_build.build_wheel(str(tmp_path)))
    prefix = "hornbook/report/assets/"
    packed = {name.removeprefix(prefix) for name in wheel.namelist() if name.startswith(prefix)}
    assert packed - {""} == set(TEXTS)
