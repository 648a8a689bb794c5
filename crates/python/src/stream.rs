//! An iterator of frames through a pipeline, several of them under way.

use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Mutex, TryLockError};
use std::time::Duration;

use mini_image_pipe::{Error, ImageBuffer, Pipeline as Engine, StreamOptions};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyIterator;

use crate::array::{Meaning, image_of};
use crate::errors::Failed;
use crate::image::Kind;
use crate::pipeline::give;

/// How long results are waited for before looking whether the user has interrupted.
const PATIENCE: Duration = Duration::from_millis(50);

type Finished = Result<Vec<(String, ImageBuffer)>, Error>;

/// Results of frames, in their order: what `Pipeline.stream` gives.
#[pyclass(frozen, module = "mini_image_pipe")]
#[derive(Debug)]
pub(crate) struct Stream(Mutex<Ends>);

#[derive(Debug)]
struct Ends {
    source: Py<PyIterator>,
    meaning: Meaning,
    /// Gone when the source has no more frames.
    frames: Option<Sender<ImageBuffer>>,
    results: Receiver<Finished>,
    /// How each frame under way came in, oldest first.
    under_way: VecDeque<Kind>,
    /// Frames that are taken before the first result is waited for.
    ahead: usize,
}

impl Stream {
    /// Frames of `source` through an engine of the stream's own.
    pub(crate) fn new(
        mut engine: Engine,
        source: Py<PyIterator>,
        meaning: Meaning,
        in_flight: usize,
    ) -> Result<Self, Failed> {
        let options = StreamOptions { frames_in_flight: in_flight, ..StreamOptions::default() };
        // What is wrong with the request is said here, and not by the first frame.
        drop(engine.stream(&options)?);
        let (frames, taken) = channel::<ImageBuffer>();
        let (give, results) = channel::<Finished>();
        std::thread::spawn(move || {
            let Ok(mut stream) = engine.stream(&options) else { return };
            let outputs = |frame: mini_image_pipe::FrameResult| Ok(frame?.outputs);
            for frame in taken {
                if let Some(done) = stream.push(frame)
                    && give.send(outputs(done)).is_err()
                {
                    return;
                }
            }
            for done in stream {
                if give.send(outputs(done)).is_err() {
                    return;
                }
            }
        });
        let ends = Ends {
            source,
            meaning,
            frames: Some(frames),
            results,
            under_way: VecDeque::new(),
            ahead: in_flight + 1,
        };
        Ok(Self(Mutex::new(ends)))
    }
}

#[pymethods]
impl Stream {
    const fn __iter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        // The lock is held while Python runs the source, so another thread must not wait for it attached.
        let mut ends = match self.0.try_lock() {
            Ok(ends) => ends,
            Err(TryLockError::Poisoned(ends)) => ends.into_inner(),
            Err(TryLockError::WouldBlock) => {
                let text = "this stream is being iterated over on another thread, or by its own source";
                return Err(PyRuntimeError::new_err(text));
            }
        };
        let ends = &mut *ends;
        while let Some(frames) = &ends.frames
            && ends.under_way.len() < ends.ahead
        {
            match ends.source.bind(py).clone().next() {
                Some(frame) => {
                    let frame = frame?;
                    let kind = Kind::of(&frame)?;
                    // An engine that is gone has said why in its last result.
                    if frames.send(image_of(&frame, ends.meaning, "stream")?).is_ok() {
                        ends.under_way.push_back(kind);
                    }
                }
                None => ends.frames = None,
            }
        }
        let Some(kind) = ends.under_way.pop_front() else { return Ok(None) };
        loop {
            let results = &mut ends.results;
            match py.detach(move || results.recv_timeout(PATIENCE)) {
                Ok(done) => return give(py, kind, done.map_err(Failed::from)?).map(Some),
                Err(RecvTimeoutError::Timeout) => py.check_signals()?,
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(PyRuntimeError::new_err("the thread that ran this stream has ended"));
                }
            }
        }
    }
}
