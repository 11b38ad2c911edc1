"""Check what a wheel and a source distribution hold, and try the wheel out where no checkout is near.

python .ci/try_wheel.py dist

Needs nothing but Python: the one that runs this is the one that the wheel is installed for.
"""

import os
import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from pathlib import Path

# Besides the modules.
NEEDED = {
    "refpair/py.typed",
    "refpair/datasets/mulan.csv",
    "refpair/experiments/report/captions.toml",
    "refpair/experiments/report/page.html",
    "refpair/labeling/page.html",
}

# Only what the base installation has.
LIBRARY = """
import numpy as np
import refpair

rng = np.random.default_rng(0)
X = rng.standard_normal((200, 5))
Y = (X[:, :3] + X[:, 1:4] > 0).astype(int)
model = refpair.CSRPEClassifier("f1", n_bits=50, random_state=0).fit(X, Y)
answers = model.predict(X)
refpair.save(model, "model.refpair")
assert (refpair.load("model.refpair").predict(X) == answers).all()
score = model.score(X, Y)
assert score > 0.8, score
print(refpair.__version__, "in", refpair.__path__[0], "F1", round(score, 2))
"""

TABLE = "text,price,tags\n" + "".join(
    f"{'red apple' if i % 2 else 'green pear'} number {i},{i % 7},{'fruit|red' if i % 2 else 'fruit'}\n"
    for i in range(60)
)


def check_contents(folder: Path) -> Path:
    """Return the wheel of a folder, in which, as in the source distribution, all is that should be."""
    (wheel,), (source,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    packed = set(zipfile.ZipFile(wheel).namelist())
    strangers = {name for name in packed if not name.startswith(("refpair/", "refpair-"))}
    licence = {name for name in packed if name.endswith(".dist-info/licenses/LICENSE")}
    assert packed >= NEEDED, f"not in {wheel.name}: {NEEDED - packed}"
    assert not strangers, f"not meant to be in {wheel.name}: {strangers}"
    assert licence, f"no LICENSE in {wheel.name}"
    with tarfile.open(source) as archive:
        unpacked = {name.partition("/")[2] for name in archive.getnames()}
    modules = {f"src/{name}" for name in packed if name.startswith("refpair/")}
    wanted = modules | {"LICENSE", "README.md", "CHANGELOG.md", "pyproject.toml", "tests/conftest.py"}
    assert unpacked >= wanted, f"not in {source.name}: {wanted - unpacked}"
    return wheel


def try_out(wheel: Path) -> None:
    """Install a wheel into an environment of its own, and use the library, then the commands."""
    with tempfile.TemporaryDirectory() as place:
        venv.create(Path(place, "venv"), with_pip=True)
        programs = Path(place, "venv", "Scripts" if os.name == "nt" else "bin")
        environment = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV")}

        def run(program: str, *arguments: str) -> None:
            subprocess.run([programs / program, *arguments], cwd=place, env=environment, check=True)

        def install(what: str) -> None:
            run("python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", what)

        install(f"{wheel}")
        run("python", "-c", LIBRARY)
        install(f"{wheel}[cli]")
        run("python", "-m", "pip", "check")
        Path(place, "things.csv").write_text(TABLE, encoding="utf-8")
        run("refpair", "--help")
        run("refpair", "fit", "things.csv", "--labels", "tags", "-o", "things.refpair")
        run("refpair", "predict", "things.refpair", "things.csv", "-o", "answers.csv")
        answers = Path(place, "answers.csv").read_text(encoding="utf-8")
        assert "fruit|red" in answers, answers


if __name__ == "__main__":
    try_out(check_contents(Path(sys.argv[1]).resolve()))
