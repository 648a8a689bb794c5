"""The programs and the notebook under examples/python run, and do what they say."""

import base64
import importlib.util
import io
import json
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image as Pillow

FOLDER = Path(__file__).resolve().parents[3] / "examples/python"
NOTEBOOK = FOLDER / "tour.ipynb"
CODE = [cell for cell in json.loads(NOTEBOOK.read_text())["cells"] if cell["cell_type"] == "code"]


def example(name):
    spec = importlib.util.spec_from_file_location(name, FOLDER / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def session():
    onnxruntime = pytest.importorskip("onnxruntime", reason="ONNX Runtime is not installed: pip install onnxruntime onnx")
    pytest.importorskip("onnx", reason="ONNX, which makes the model, is not installed: pip install onnx")
    return onnxruntime.InferenceSession(example("detector").bright_thing_model(), providers=["CPUExecutionProvider"])


@pytest.mark.parametrize(("width", "height"), [(500, 375), (375, 500), (160, 160), (101, 53), (1920, 1080)])
def test_boxes_come_back_to_where_the_thing_is(session, width, height):
    detector = example("detector")
    box = (width // 3, height // 4, width * 2 // 3, height // 2)
    found = detector.Detector(session)(detector.drawn(box, width, height))
    assert found.shape == (1, 5) and found[0, 4] > 0.9
    # A pixel of the tensor is so many of the photo.
    assert np.abs(found[0, :4] - box).max() <= 1.5 * max(width, height) / 160 + 1e-3
    assert detector.Detector(session)(np.zeros((height, width, 3), np.uint8)).shape == (0, 5)


def test_the_detector_is_a_program(session, capsys):
    example("detector").main()
    found = [float(number) for number in capsys.readouterr().out.split()]
    assert np.abs(np.array(found[:4]) - [212, 90, 341, 203]).max() < 3.2 and found[4] > 0.9


def test_without_onnx_runtime_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(SystemExit, match="pip install onnxruntime onnx"):
        example("detector").main()


def test_the_cells_of_the_notebook_run():
    names = {}
    for cell in CODE:
        exec(compile("".join(cell["source"]), "tour.ipynb", "exec"), names)  # noqa: S102: our own text


def test_the_notebook_has_its_pictures_and_gives_them_again():
    nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed: pip install nbclient ipykernel")
    pytest.importorskip("ipykernel", reason="ipykernel is not installed")
    import nbformat

    notebook = nbformat.read(NOTEBOOK, as_version=4)
    nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    again = [cell for cell in notebook.cells if cell.cell_type == "code"]

    def pictures(cells):
        data = [output.get("data", {}).get("image/png") for cell in cells for output in cell["outputs"]]
        decoded = [base64.b64decode("".join(png)) for png in data if png]
        return [np.asarray(Pillow.open(io.BytesIO(png))).astype(int) for png in decoded]

    stored, made = pictures(CODE), pictures(again)
    assert len(made) == len(stored) == 8
    for before, now in zip(stored, made, strict=True):
        # What NumPy draws may differ in a last bit between machines; what becomes of it does not.
        assert before.shape == now.shape and np.abs(before - now).mean() < 0.5
    assert any("svg" in output.get("data", {}).get("text/html", "") for cell in again for output in cell["outputs"])
