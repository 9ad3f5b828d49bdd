"""The shape of the workspace: who may import whom, what loads when, what lies where."""

import ast
import importlib.metadata
import subprocess
import sysconfig
import tomllib
from pathlib import Path

import pytest

import hornbook
from workspace import DISTRIBUTIONS, HOSTS, ROOT, Distribution, python, sources

each_distribution = pytest.mark.parametrize("dist", DISTRIBUTIONS, ids=lambda dist: dist.name)
each_plugin = pytest.mark.parametrize("dist", DISTRIBUTIONS[1:], ids=lambda dist: dist.name)


def lint_imports(cwd: Path, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    script = Path(sysconfig.get_path("scripts"), "lint-imports")
    command = [str(script), "--no-cache", "--no-logo", str(ROOT / "pyproject.toml")]
    return subprocess.run(command, cwd=cwd, env=env, text=True, capture_output=True, check=False)


def loaded_by(code: str) -> set[str]:
    """The modules that are there after `code` and not without it."""
    tail = "\nimport sys\nprint(*sys.modules)"
    done = python(code + tail)
    assert done.returncode == 0, done.stderr
    return set(done.stdout.split()) - set(python(tail).stdout.split())


@pytest.mark.requirement("workspace:imports:layers", "workspace:imports:no-host")
def test_imports_run_one_way_only():
    done = lint_imports(cwd=ROOT)
    assert done.returncode == 0, done.stdout


@pytest.mark.requirement("workspace:imports:planted")
def test_an_import_against_the_order_is_caught(tmp_path: Path):
    rules = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    layers = " ".join(rules["tool"]["importlinter"]["contracts"][1]["layers"])
    modules = layers.translate(str.maketrans("|:()", "    ")).split()
    for package in rules["tool"]["importlinter"]["root_packages"]:
        (tmp_path / package).mkdir()
        (tmp_path / package / "__init__.py").touch()
    for module in modules:
        (tmp_path / "hornbook" / f"{module}.py").touch()
    planted = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import hornbook.step\n"
    (tmp_path / "hornbook/contracts.py").write_text(planted, encoding="utf-8")
    (tmp_path / "hornbook/errors.py").write_text("import numpy\n", encoding="utf-8")
    (tmp_path / "hornbook_rulestore/__init__.py").write_text("import hornbook_dspy\n", "utf-8")
    (tmp_path / "hornbook/homeless.py").touch()

    done = lint_imports(cwd=tmp_path, env={"PYTHONPATH": str(tmp_path)})

    assert done.returncode == 1
    for caught in (
        "hornbook.contracts -> hornbook.step (l.3)",
        "hornbook.errors -> numpy (l.1)",
        "hornbook_rulestore -> hornbook_dspy (l.1)",
        "homeless",
    ):
        assert caught in done.stdout


@pytest.mark.requirement("workspace:imports:layers")
def test_no_core_module_imports_from_the_package_itself():
    """The lazy `__init__` stands in no layer: what came through it would pass unseen."""
    home = ROOT / "core/src/hornbook"
    parts = {entry.stem for entry in home.iterdir()} | {"__version__"}
    found = [
        f"{file.relative_to(ROOT)}:{node.lineno}: {alias.name}"
        for file in sources("core/src/hornbook/**/*.py")
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and node.module == "hornbook"
        for alias in node.names
        if alias.name not in parts
    ]
    assert not found


@pytest.mark.requirement("workspace:dists:no-shadow")
@each_distribution
def test_nothing_importable_lies_directly_in_a_distribution(dist: Distribution):
    entries = {entry.name for entry in dist.path.iterdir() if not entry.name.startswith(".")}
    assert entries - {"dist"} == {"LICENSE", "README.md", "pyproject.toml", "src", "tests"}
    packages = {entry.name for entry in (dist.path / "src").iterdir() if entry.suffix == ""}
    assert packages == {dist.package}
    assert not (dist.path / "tests" / "__init__.py").exists()


@pytest.mark.requirement("workspace:entry-points:host-free")
@each_plugin
def test_loading_an_entry_point_loads_no_host(dist: Distribution):
    (point,) = importlib.metadata.distribution(dist.name).entry_points.select(group="hornbook")
    assert point.value == f"{dist.package}.plugin"
    loaded = loaded_by(f"import {point.value}")
    assert point.value in loaded
    assert not {name.partition(".")[0] for name in loaded} & HOSTS


@pytest.mark.requirement("workspace:dists:lazy")
@each_distribution
def test_a_package_is_lazy_and_names_what_it_does_not_have(dist: Distribution):
    done = python(f"import {dist.package} as package; package.no_such_name")
    last = done.stderr.splitlines()[-1]
    assert last.startswith("AttributeError: ")
    assert dist.package in last
    assert "'no_such_name'" in last
    ours = {name for name in loaded_by(f"import {dist.package}") if name.startswith("hornbook")}
    assert ours <= {dist.package, "hornbook", "hornbook.late", "hornbook.lazy"}
    assert (dist.path / "src" / dist.package / "py.typed").is_file()


@pytest.mark.requirement("workspace:import:light")
def test_importing_the_decorator_is_light():
    pydantic = loaded_by("from pydantic import BaseModel, TypeAdapter")
    added = loaded_by("from hornbook import Contract, contract, clauses") - pydantic
    foreign = {name for name in added if name.partition(".")[0] != "hornbook"}
    heavy = {"asyncio", "concurrent", "importlib.metadata", "pluggy", "sqlite3", "tomllib"}
    assert not {name for name in foreign if {name, name.partition(".")[0]} & (heavy | HOSTS)}


@pytest.mark.requirement("workspace:dists:lockstep")
@each_distribution
def test_versions_are_in_lockstep(dist: Distribution):
    version = DISTRIBUTIONS[0].project["version"]
    major, minor, _ = map(int, version.split("."))
    assert dist.project["version"] == version
    assert importlib.metadata.version(dist.name) == version == hornbook.__version__
    if dist.name != "hornbook":
        assert f"hornbook>={major}.{minor},<{major}.{minor + 1}" in dist.project["dependencies"]
    assert (dist.path / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()
    assert f"## {version}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


@pytest.mark.requirement("workspace:install:plain")
def test_the_core_needs_pydantic_and_pluggy_alone():
    required = importlib.metadata.requires("hornbook") or []
    assert sorted(line for line in required if "extra ==" not in line) == [
        "pluggy>=1.7,<2",
        "pydantic>=2.13,<3",
    ]


@pytest.mark.requirement("workspace:modules:size")
def test_modules_are_short():
    limits = {"src": 400, "tests": 600, "examples": 400, "bench": 400}
    too_long = [
        f"{shown}: {lines} lines"
        for file in sources("*/**/*.py")
        for shown in [file.relative_to(ROOT)]
        for lines in [len(file.read_text(encoding="utf-8").splitlines())]
        if lines > min(limits[part] for part in shown.parts if part in limits)
    ]
    assert not too_long
