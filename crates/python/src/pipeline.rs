//! [`Pipeline`], as Python holds it: a description that can be pickled, and an engine made of it.

use std::sync::{Mutex, MutexGuard, PoisonError};

use mini_image_pipe::graph::TaskSpec;
use mini_image_pipe::ops;
use mini_image_pipe::{Error, ImageBuffer, ImageDesc, Pipeline as Engine, graph::PipelineSpec};
use pyo3::exceptions::PyAttributeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};

use crate::array::{Given, Meaning, Strided, given};
use crate::chain::chained;
use crate::errors::{Failed, wrong_type};
use crate::image::{Kind, meaning, numpy_name};
use crate::inputs::{Batch, Inputs};
use crate::params::{parameters, to_python, value_of};
use crate::plan::Plan;
use crate::state::{Settings, State, names_of};
use crate::stream::Stream;
use crate::task::Task;
use crate::{gpu, report};

/// A graph of operators, run over arrays: `Pipeline("resize width=640 ! sobel")(array)`.
///
/// The text is the one-line form, or a pipeline file's (TOML); `Pipeline.load(path)` reads a file, and `add` builds a
/// graph task by task, of which `inputs` and `outputs` name what goes in and out where that is not one image each. `device` is auto, cpu, cuda or cuda:N; or several, to share batches and streams out: cuda:0,cuda:1, cuda:all, or all. None of the settings changes a result.
///
/// Parameters are attributes of tasks, `pipeline.soft.sigma = 1.4`, and items, `pipeline["soft.sigma"] = 1.4`. Pipelines can
/// be pickled and copied, and used from several threads, one of which runs at a time.
#[pyclass(frozen, module = "mini_image_pipe")]
#[derive(Debug)]
pub(crate) struct Pipeline {
    state: Mutex<State>,
    settings: Settings,
}

impl Pipeline {
    /// The state; only to be asked for detached, since its holder may wait to be attached.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Work on the state, detached.
    pub(crate) fn with<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut State, &Settings) -> Result<T, Failed> + Send,
    ) -> Result<T, Failed> {
        py.detach(|| work(&mut self.state(), &self.settings))
    }

    fn of(spec: PipelineSpec, settings: Settings) -> Self {
        Self { state: Mutex::new(State::new(spec)), settings }
    }

    fn spec(&self, py: Python<'_>) -> PipelineSpec {
        py.detach(|| self.state().spec.clone())
    }

    /// Names of tasks, inputs and outputs.
    fn names(
        &self,
        py: Python<'_>,
        of: impl FnOnce(&Engine) -> Vec<String> + Send,
    ) -> Result<Vec<String>, Failed> {
        self.with(py, |state, settings| state.engine(settings).map(|engine| of(engine)))
    }
}

/// Results, as the first input came: one by itself, several in a dictionary by task.
pub(crate) fn give(
    py: Python<'_>,
    kind: Kind,
    mut outputs: Vec<(String, ImageBuffer)>,
) -> PyResult<Bound<'_, PyAny>> {
    if outputs.len() == 1 {
        return kind.give(py, outputs.remove(0).1);
    }
    let results = PyDict::new(py);
    for (task, image) in outputs {
        results.set_item(task, kind.give(py, image)?)?;
    }
    Ok(results.into_any())
}

fn parse(text: &str) -> Result<PipelineSpec, Failed> {
    // A line of the one-line form has neither.
    let is_file = text.contains('\n') || text.trim_start().starts_with("[[");
    Ok(if is_file { PipelineSpec::parse_toml(text, "pipeline")? } else { PipelineSpec::parse_line(text)? })
}

#[pymethods]
impl Pipeline {
    #[new]
    #[pyo3(signature = (
        text=None, *, inputs=None, outputs=None, device="auto", num_streams=4, max_batch_size=8, graph_replay=false, fuse=true,
        stream_ordered=false, memory_limit=None, threads=None
    ))]
    #[expect(clippy::too_many_arguments, reason = "keyword arguments")]
    fn new(
        py: Python<'_>,
        text: Option<&str>,
        inputs: Option<Vec<String>>,
        outputs: Option<Vec<String>>,
        device: &str,
        num_streams: u32,
        max_batch_size: usize,
        graph_replay: bool,
        fuse: bool,
        stream_ordered: bool,
        memory_limit: Option<usize>,
        threads: Option<usize>,
    ) -> Result<Self, Failed> {
        let device = device.to_owned();
        if threads == Some(0) {
            return Err(Failed::usage("threads is 0, but must be at least 1"));
        }
        let settings = Settings {
            device,
            num_streams,
            max_batch_size,
            graph_replay,
            fuse,
            stream_ordered,
            memory_limit,
            threads,
        };
        let Some(text) = text.filter(|text| !text.is_empty()) else {
            let mut spec = PipelineSpec::default();
            spec.inputs = inputs.into_iter().flatten().map(Into::into).collect();
            spec.outputs = outputs.into_iter().flatten().map(Into::into).collect();
            return Ok(Self::of(spec, settings));
        };
        if inputs.is_some() || outputs.is_some() {
            return Err(Failed::usage(
                "inputs and outputs are for graphs that `add` builds; a text names its own",
            ));
        }
        let pipeline = Self::of(parse(text)?, settings);
        pipeline.names(py, |_| Vec::new())?;
        Ok(pipeline)
    }

    /// A pipeline from a file in TOML; settings are those of `Pipeline(...)`.
    #[staticmethod]
    #[pyo3(signature = (path, **settings))]
    fn load<'py>(
        py: Python<'py>,
        path: std::path::PathBuf,
        settings: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let name = path.display().to_string();
        let read = std::fs::read_to_string(&path);
        let text = read.map_err(|error| {
            Failed::from(Error::PipelineFile { path: name.clone(), reason: error.to_string() })
        })?;
        // Read here for errors that name the file, and for files that are named from its folder on.
        let spec = PipelineSpec::parse_toml(&text, &name).map_err(Failed::from)?;
        py.get_type::<Self>().call((format!("{}\n", spec.to_toml()),), settings)
    }

    /// Runs the pipeline over one image for each input, in order or by the inputs' names, and gives its result; of several
    /// outputs a dictionary by task.
    ///
    /// An image is a NumPy array, (height, width) or (height, width, channels), of uint8, uint16, int16, int32, float16 or
    /// float32, which is read where it lies (arrays whose rows are not contiguous are copied once); an `Image`; a picture of
    /// Pillow; or whatever has the buffer protocol, `__dlpack__` or `__array_interface__`. Results come as the first image
    /// came: arrays over memory of their own, images, or pictures. Do not write into an image while it is read.
    ///
    /// Tensors on the GPU that the pipeline runs on (PyTorch, CuPy, JAX: `__dlpack__` or `__cuda_array_interface__`) are read where they lie,
    /// and the call returns when the run is queued: results are `DeviceImage`s. It comes after what PyTorch or CuPy have queued on
    /// their current stream, and that stream goes on when it has ended.
    #[pyo3(signature = (*images, format=None, layout=None, **named))]
    fn __call__<'py>(
        &self,
        py: Python<'py>,
        images: &Bound<'py, PyTuple>,
        format: Option<&str>,
        layout: Option<&str>,
        named: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (kind, images) = match Inputs::read(images, named, meaning(format, layout)?)? {
            Inputs::Gpu(tensors) => return gpu::call(self, py, &tensors),
            Inputs::Host(kind, images) => (kind, images),
        };
        // Images are let go of attached, which arrays need: only borrowed here.
        let outputs = self.with(py, |state, settings| {
            let engine = state.engine(settings)?;
            let inputs = names_of(engine, images.iter().map(|(name, _)| name.as_deref()))?;
            let images = inputs.iter().zip(&images).map(|(name, (_, image))| (name.as_str(), image));
            Ok(engine.run_named(&images.collect::<Vec<_>>())?)
        })?;
        give(py, kind, outputs)
    }

    /// Runs the pipeline, of one input and one output, over images of one shape: a sequence of them, or an array with an axis
    /// more. Each task is started once for up to `max_batch_size` of them. Gives a list of results in their order.
    ///
    /// A tensor on the GPU, with an axis more, is read where it lies, as by a call; several tensors there run one after the other.
    ///
    /// `stack=True` gives one result with an axis of images in front: of a tensor on the GPU of at most `max_batch_size` images
    /// nothing is copied for it, and it is one launch for each that one image takes; on the CPU it is `numpy.stack`.
    #[pyo3(signature = (images, *, format=None, layout=None, stack=false))]
    fn run_batch<'py>(
        &self,
        py: Python<'py>,
        images: &Bound<'py, PyAny>,
        format: Option<&str>,
        layout: Option<&str>,
        stack: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (kind, frames) = match Inputs::read_batch(images, meaning(format, layout)?)? {
            Batch::Gpu { tensors, stacked } => return gpu::batch(self, py, &tensors, (stacked, stack)),
            Batch::Host(kind, frames) => (if stack { Kind::Array } else { kind }, frames),
        };
        let results = self.with(py, |state, settings| Ok(state.engine(settings)?.run_batch(&frames)?))?;
        let list = PyList::empty(py);
        for image in results {
            list.append(kind.give(py, image)?)?;
        }
        if stack { py.import("numpy")?.call_method1("stack", (list,)) } else { Ok(list.into_any()) }
    }

    /// Decodes JPEG files (paths, or their bytes) on the GPU that the pipeline runs on, all at once, and gives their images there, in
    /// order; other files are decoded on the CPU and uploaded. What was decoded at once goes through `run_batch` at once, with
    /// `stack=True` to one result. Threads decode beside each other; three keep the engines of a GPU at work.
    ///
    /// Pixels differ a little from those of `mip.open`, which are libjpeg's. Needs nvJPEG (`mip devices` says whether it is there).
    fn decode<'py>(
        &self,
        py: Python<'py>,
        files: Vec<gpu::File>,
    ) -> PyResult<Vec<Bound<'py, gpu::DeviceImage>>> {
        let jpegs = self.with(py, State::jpegs)?;
        gpu::decode(&jpegs, py, &files)
    }

    /// Runs the pipeline over all frames that an iterable gives: an iterator of their results, in order. `frames_in_flight`
    /// of them are under way at once, and frames are taken as results are asked for. Parameters are those of now.
    #[pyo3(signature = (frames, *, frames_in_flight=3, format=None, layout=None))]
    fn stream(
        &self,
        py: Python<'_>,
        frames: &Bound<'_, PyAny>,
        frames_in_flight: usize,
        format: Option<&str>,
        layout: Option<&str>,
    ) -> PyResult<Stream> {
        let source = frames.try_iter()?.unbind();
        let spec = self.spec(py);
        let config = py.detach(|| self.settings.config())?;
        let engine = Engine::from_spec(&spec, config).map_err(Failed::from)?;
        Ok(Stream::new(engine, source, meaning(format, layout)?, frames_in_flight)?)
    }

    /// What a run over such images would do. An image is one, or the shape of an array with its `dtype`.
    #[pyo3(signature = (*images, batch=1, dtype="uint8", format=None, layout=None))]
    fn plan(
        &self,
        py: Python<'_>,
        images: &Bound<'_, PyTuple>,
        batch: usize,
        dtype: &str,
        format: Option<&str>,
        layout: Option<&str>,
    ) -> PyResult<Plan> {
        let meaning = meaning(format, layout)?;
        let descs =
            images.iter().map(|image| described(&image, dtype, meaning)).collect::<PyResult<Vec<_>>>()?;
        let plan =
            self.with(py, move |state, settings| Ok(state.engine(settings)?.plan_for(&descs, batch)?))?;
        Ok(plan.into())
    }

    /// Adds a task: an operator under a name, its parameters, and the tasks it reads (`"@input"` is the image; the task
    /// before it if left out). Gives the pipeline, so that calls chain.
    #[pyo3(signature = (name, operator, *, inputs=None, **params))]
    fn add<'py>(
        slf: Bound<'py, Self>,
        name: &str,
        operator: &str,
        inputs: Option<Vec<String>>,
        params: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, Self>> {
        let params = parameters(params)?;
        ops::create(operator, &params).map_err(Failed::from)?;
        let task = TaskSpec {
            name: Some(name.into()),
            inputs: inputs.map(|names| names.into_iter().map(Into::into).collect()),
            params: params.into_iter().map(|(name, value)| (name.into(), value.into())).collect(),
            ..TaskSpec::new(operator)
        };
        let pipeline = slf.get();
        slf.py().detach(|| {
            let mut state = pipeline.state();
            state.spec.tasks.push(task);
            state.forget_engine();
        });
        Ok(slf)
    }

    /// The tasks' names.
    #[getter]
    fn tasks(&self, py: Python<'_>) -> Result<Vec<String>, Failed> {
        self.names(py, |engine| {
            let graph = engine.task_graph();
            graph.tasks().filter_map(|task| graph.name(task).ok().map(str::to_owned)).collect()
        })
    }

    /// The inputs' names.
    #[getter]
    fn inputs(&self, py: Python<'_>) -> Result<Vec<String>, Failed> {
        self.names(py, |engine| engine.task_graph().inputs().to_vec())
    }

    /// The names of the tasks whose results are given back.
    #[getter]
    fn outputs(&self, py: Python<'_>) -> Result<Vec<String>, Failed> {
        self.names(py, |engine| {
            let graph = engine.task_graph();
            graph.outputs().into_iter().filter_map(|task| graph.name(task).ok().map(str::to_owned)).collect()
        })
    }

    /// What the last run did, with the keys of `mip run --json`; None before the first.
    #[getter]
    fn report<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let report = self.with(py, |state, settings| Ok(state.engine(settings)?.report().cloned()))?;
        report.map(|report| report::dictionary(py, &report)).transpose()
    }

    /// The pipeline as a file in TOML, with the parameters of now.
    fn to_toml(&self, py: Python<'_>) -> String {
        self.spec(py).to_toml()
    }

    pub(crate) fn __getitem__<'py>(&self, py: Python<'py>, path: &str) -> PyResult<Bound<'py, PyAny>> {
        let value = self.with(py, |state, settings| Ok(state.engine(settings)?.get(path)?))?;
        value.map_or_else(|| Ok(py.None().into_bound(py)), |value| to_python(py, value))
    }

    pub(crate) fn __setitem__(&self, py: Python<'_>, path: &str, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let value = value_of(value)?;
        Ok(self.with(py, |state, settings| state.set(settings, path, value))?)
    }

    fn __getattr__(slf: Bound<'_, Self>, name: &str) -> PyResult<Task> {
        let known = if name.starts_with('_') { Vec::new() } else { slf.get().tasks(slf.py())? };
        if !known.iter().any(|task| task == name) {
            let tasks = known.join(", ");
            return Err(PyAttributeError::new_err(format!(
                "this pipeline has no attribute or task '{name}'; tasks: {tasks}"
            )));
        }
        Ok(Task { name: name.to_owned(), pipeline: slf.unbind() })
    }

    fn __dir__(slf: &Bound<'_, Self>) -> PyResult<Vec<String>> {
        let mut names: Vec<String> = slf.get_type().dir()?.extract()?;
        names.extend(slf.get().tasks(slf.py())?);
        Ok(names)
    }

    /// This pipeline with `other` behind it. Names of `other` that this one has already get a number.
    fn __or__(&self, py: Python<'_>, other: &Bound<'_, Self>) -> Result<Self, Failed> {
        let (before, after) = (self.spec(py), other.get().spec(py));
        Ok(Self::of(chained(before, after)?, self.settings.clone()))
    }

    fn __str__(&self, py: Python<'_>) -> String {
        self.spec(py).to_line()
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        format!("mini_image_pipe.Pipeline({:?})", self.__str__(py))
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let settings = PyDict::new(py);
        settings.set_item("device", &self.settings.device)?;
        settings.set_item("num_streams", self.settings.num_streams)?;
        settings.set_item("max_batch_size", self.settings.max_batch_size)?;
        settings.set_item("graph_replay", self.settings.graph_replay)?;
        settings.set_item("fuse", self.settings.fuse)?;
        settings.set_item("stream_ordered", self.settings.stream_ordered)?;
        settings.set_item("memory_limit", self.settings.memory_limit)?;
        settings.set_item("threads", self.settings.threads)?;
        let rebuild = py.import("mini_image_pipe._support")?.getattr("pipeline")?;
        let text = self.spec(py).to_line();
        Ok((rebuild, (text, settings).into_pyobject(py)?))
    }
}

/// The image that a run would get: one, or a shape.
fn described(object: &Bound<'_, PyAny>, dtype: &str, meaning: Meaning) -> PyResult<ImageDesc> {
    let Ok(shape) = object.extract::<Vec<usize>>() else {
        return match given(object, meaning)? {
            Given::Host(image) => Ok(*image.desc()),
            Given::Gpu(tensor) => tensor.desc(),
        };
    };
    let known = mini_image_pipe::DType::ALL;
    let Some(dtype) = known.into_iter().find(|known| numpy_name(*known) == dtype || known.name() == dtype)
    else {
        let names = known.map(numpy_name).join(", ");
        return Err(wrong_type(format!("dtype is {dtype}, but must be one of {names}")));
    };
    Ok(Strided { shape: &shape, strides: &[], dtype }.desc(meaning)?)
}
