#!/usr/bin/env python3
"""Around a detector in ONNX: the photo into its tensor, and its boxes back into the photo.

    pip install onnxruntime onnx
    python3 examples/python/detector.py                          # a picture that is drawn here, and a model that is made here
    python3 examples/python/detector.py photo.jpg model.onnx     # one of your own: (1, 3, height, width) f32 of 0 to 1 in, rows x1 y1 x2 y2 score out

Letterbox, normalisation and planes are one pass over the pixels. Where the photo lies in the tensor the plan says, so that nobody
computes it a second time.
"""

import json
import sys

import mini_image_pipe as mip
import numpy as np


class Detector:
    """A model, with a pipeline for its input and the way back for its boxes."""

    def __init__(self, session, device="cpu"):
        self._session = session
        self._input = session.get_inputs()[0]
        height, width = self._input.shape[2:]
        self._pipeline = mip.Pipeline(f"boxed:letterbox width={width} height={height} ! normalize ! layout to=chw", device=device)
        self._places = {}

    def __call__(self, photo, at_least=0.5):
        """Boxes of a photo (height, width, 3) with their scores: rows x1, y1, x2, y2, score in pixels of the photo."""
        tensor = self._pipeline(photo)[np.newaxis]
        rows = self._session.run(None, {self._input.name: tensor})[0].reshape(-1, 5)
        rows = rows[rows[:, 4] >= at_least]
        scale, left, top = self._place(photo.shape)
        rows[:, :4] = (rows[:, :4] - [left, top, left, top]) / scale
        rows[:, :4] = rows[:, :4].clip(0, [photo.shape[1], photo.shape[0]] * 2)
        return rows

    def _place(self, shape):
        """Scale and margins of photos of a shape, from the plan."""
        if shape not in self._places:
            task = next(task for task in json.loads(self._pipeline.plan(shape).to_json())["tasks"] if task["name"] == "boxed")
            self._places[shape] = [task["derived"][name] for name in ("scale", "left", "top")]
        return self._places[shape]


def bright_thing_model(side=160):
    """A model that finds what is bright: the box of all pixels whose three channels are over 0.8, and the share of the box that they fill as score."""
    from onnx import TensorProto, checker, helper

    def number(name, values, kind=TensorProto.FLOAT):
        return helper.make_tensor(name, kind, [len(values)], values)

    def node(operator, inputs, output, **attributes):
        return helper.make_node(operator, inputs, [output], **attributes)

    nodes = [
        # (1, 1, side, side): 1 where all channels are bright.
        node("ReduceMin", ["image", "channels"], "least", keepdims=1),
        node("Greater", ["least", "limit"], "over"),
        node("Cast", ["over"], "bright", to=TensorProto.FLOAT),
        node("ReduceSum", ["bright"], "area", keepdims=0),
    ]
    # The first and the last column and row that have any.
    for axis, across in (("x", "rows"), ("y", "columns")):
        nodes += [
            node("ReduceMax", ["bright", across], f"{axis}_any", keepdims=0),
            node("ArgMax", [f"{axis}_any"], f"{axis}_first", axis=2, keepdims=0),
            node("ArgMax", [f"{axis}_any"], f"{axis}_last", axis=2, keepdims=0, select_last_index=1),
            node("Cast", [f"{axis}_first"], f"{axis}1", to=TensorProto.FLOAT),
            node("Cast", [f"{axis}_last"], f"{axis}_end", to=TensorProto.FLOAT),
            node("Add", [f"{axis}_end", "one"], f"{axis}2"),
            node("Sub", [f"{axis}2", f"{axis}1"], f"{axis}_side"),
        ]
    nodes += [
        node("Mul", ["x_side", "y_side"], "box_area"),
        node("Div", ["area", "box_area"], "score"),
        node("Concat", ["x1", "y1", "x2", "y2", "score"], "boxes", axis=1),
    ]
    constants = [
        number("limit", [0.8]),
        number("one", [1.0]),
        number("channels", [1], TensorProto.INT64),
        number("rows", [2], TensorProto.INT64),
        number("columns", [3], TensorProto.INT64),
    ]
    image = helper.make_tensor_value_info("image", TensorProto.FLOAT, [1, 3, side, side])
    boxes = helper.make_tensor_value_info("boxes", TensorProto.FLOAT, [1, 5])
    graph = helper.make_graph(nodes, "bright thing", [image], [boxes], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    checker.check_model(model, full_check=True)
    return model.SerializeToString()


def drawn(box=(212, 90, 341, 203), width=500, height=375):
    """A dim picture of noise with one bright box: x1, y1, x2, y2."""
    photo = np.random.default_rng(1).integers(0, 120, (height, width, 3), dtype=np.uint8)
    x1, y1, x2, y2 = box
    photo[y1:y2, x1:x2] = 250
    return photo


def main(photo=None, model=None):
    try:
        import onnxruntime
    except ImportError:
        sys.exit("this example runs models with onnxruntime: pip install onnxruntime onnx")
    session = onnxruntime.InferenceSession(model or bright_thing_model(), providers=["CPUExecutionProvider"])
    image = mip.open(photo) if photo else drawn()
    for x1, y1, x2, y2, score in Detector(session)(image):
        print(f"{x1:7.1f} {y1:7.1f} {x2:7.1f} {y2:7.1f}  {score:.2f}")


if __name__ == "__main__":
    main(*sys.argv[1:])
