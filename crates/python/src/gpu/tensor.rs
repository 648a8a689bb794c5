//! Tensors of other libraries on a GPU, and our own.

use std::sync::Arc;

use mini_image_pipe::{BatchLayout, DType, ImageDesc, prelude};
use pyo3::exceptions::PyBufferError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::order::{Gateway, Orders};
use super::{DeviceImage, order};
use crate::array::{Meaning, Strided};
use crate::dlpack::{self, Tensor};
use crate::errors::Failed;

/// An image on a GPU that was given: not looked at before it is known what runs there.
pub(crate) struct OnGpu<'py> {
    object: Bound<'py, PyAny>,
    /// The GPU's index; not known of what only has `__cuda_array_interface__`.
    index: Option<usize>,
    meaning: Meaning,
}

/// Where a tensor lies, and the stream on which it gets complete, where its library says so by itself.
struct Found {
    tensor: Tensor,
    stream: Option<u64>,
}

impl<'py> OnGpu<'py> {
    /// The object, if it is an image of ours on a GPU.
    pub(crate) fn ours(object: &Bound<'py, PyAny>) -> Option<Self> {
        let image = object.cast::<DeviceImage>().ok()?;
        Some(Self { object: object.clone(), index: Some(image.get().index()), meaning: Meaning::default() })
    }

    /// The object, if it says that it lies on a GPU.
    pub(crate) fn tensor(object: &Bound<'py, PyAny>, meaning: Meaning) -> PyResult<Option<Self>> {
        if object.hasattr("__dlpack__")? {
            let (device, index): (i32, i32) = object.call_method0("__dlpack_device__")?.extract()?;
            let on_gpu = device == dlpack::CUDA || device == dlpack::CUDA_MANAGED;
            let tensor = || Self { object: object.clone(), index: usize::try_from(index).ok(), meaning };
            return Ok(on_gpu.then(tensor));
        }
        let tensor = || Self { object: object.clone(), index: None, meaning };
        Ok(object.hasattr("__cuda_array_interface__")?.then(tensor))
    }

    /// Whether it is a stack of images that a pipeline of ours made.
    pub(super) fn is_stack_of_ours(&self) -> bool {
        self.object.cast::<DeviceImage>().is_ok_and(|image| image.get().is_stacked())
    }

    /// Where it lies, as devices are named.
    fn place(&self) -> String {
        self.index.map_or_else(|| "a GPU".to_owned(), |index| format!("cuda:{index}"))
    }

    /// Why `what` cannot read it.
    pub(crate) fn elsewhere(&self, what: &str) -> Failed {
        let name = self.object.get_type().name().map_or_else(|_| "this".to_owned(), |name| name.to_string());
        let remedy = match self.object.cast::<DeviceImage>() {
            Ok(_) => "image.cpu() copies it to the CPU",
            Err(_) => "tensor.cpu() (of CuPy: tensor.get()) copies it to the CPU",
        };
        let device = self.index.map_or_else(|| "cuda".to_owned(), |index| format!("cuda:{index}"));
        Failed::usage(format!(
            "this {name} lies on {}, but {what}; {remedy}, Pipeline(..., device=\"{device}\") runs where it lies",
            self.place()
        ))
    }

    /// Refuses what lies on another GPU than the one of `gateway`.
    pub(crate) fn check(&self, gateway: &Gateway) -> Result<(), Failed> {
        match self.index {
            Some(index) if index != gateway.index() => {
                Err(self.elsewhere(&format!("the pipeline runs on cuda:{}", gateway.index())))
            }
            _ => Ok(()),
        }
    }

    /// The image that it is, for a plan: pixels are not touched.
    pub(crate) fn desc(&self) -> PyResult<ImageDesc> {
        if let Ok(image) = self.object.cast::<DeviceImage>() {
            return Ok(*image.get().image().desc());
        }
        let Found { tensor, .. } = self.find(-1)?;
        Ok(Strided { shape: &tensor.shape, strides: &tensor.strides, dtype: tensor.dtype }
            .desc(self.meaning)?)
    }

    /// Borrows it, and notes what it comes after. `batched`: with an axis of images in front.
    pub(crate) fn borrow(
        &self,
        gateway: &Gateway,
        orders: &mut Orders,
        batched: bool,
    ) -> PyResult<prelude::DeviceImage> {
        self.check(gateway)?;
        if let Ok(image) = self.object.cast::<DeviceImage>() {
            let image = image.get();
            orders.after(image.run().done());
            return Ok(image.image().clone());
        }
        // Where we know the stream that its library works on, we order it ourselves, and have that stream wait for the run.
        let current = order::current_stream(&self.object, gateway.index())?;
        let entry = if current.is_some() { -1 } else { gateway.entry_handle() };
        let Found { tensor, stream } = self.find(entry)?;
        match current.or(stream) {
            Some(handle) => orders.on(handle),
            None if self.has_dlpack()? => orders.on_entry(),
            // It says that it is complete.
            None => {}
        }
        let (layout, start) = (layout(&tensor, self.meaning, batched)?, tensor.start);
        gateway.check_address(start, layout.span())?;
        let memory = dlpack::memory_of(start, layout.span(), tensor.owner);
        let device = gateway.device();
        // Borrowing opens the device where that has not been done.
        let [image] =
            self.object.py().detach(|| device.borrow_cuda(&memory, [(layout, 0)])).map_err(Failed::from)?;
        Ok(image)
    }

    fn has_dlpack(&self) -> PyResult<bool> {
        self.object.hasattr("__dlpack__")
    }

    /// Asks it where it lies; with DLPack, its library orders `stream` behind what it has queued.
    fn find(&self, stream: i64) -> PyResult<Found> {
        if !self.has_dlpack()? {
            return self.by_interface();
        }
        let tensor = dlpack::tensor_of(&self.object, Some(stream))?;
        let on_gpu = matches!(tensor.device.0, dlpack::CUDA | dlpack::CUDA_MANAGED);
        if !on_gpu || self.index.is_some_and(|index| usize::try_from(tensor.device.1) != Ok(index)) {
            let text = "this tensor's capsule names another device than its __dlpack_device__";
            return Err(PyBufferError::new_err(text));
        }
        Ok(Found { tensor, stream: None })
    }

    /// <https://numba.readthedocs.io/en/stable/cuda/cuda_array_interface.html>
    fn by_interface(&self) -> PyResult<Found> {
        let interface = self.object.getattr("__cuda_array_interface__")?;
        let refuse = |what: String| -> PyErr {
            Failed::usage(format!("the __cuda_array_interface__ of this array {what}")).into()
        };
        let interface = interface.cast_into::<PyDict>().map_err(|_| refuse("is no dictionary".to_owned()))?;
        let needed = |name: &str| interface.get_item(name)?.ok_or_else(|| refuse(format!("has no '{name}'")));
        let shape: Vec<usize> = needed("shape")?.extract()?;
        let typestr: String = needed("typestr")?.extract()?;
        let (start, _read_only): (usize, bool) = needed("data")?.extract()?;
        let dtype = match typestr.trim_start_matches(['<', '|', '=']) {
            "u1" => DType::U8,
            "u2" => DType::U16,
            "i2" => DType::I16,
            "i4" => DType::I32,
            "f2" => DType::F16,
            "f4" => DType::F32,
            _ => {
                return Err(refuse(format!(
                    "says samples of '{typestr}', but images have uint8, uint16, int16, int32, float16 or float32; convert it first"
                )));
            }
        };
        let strides = match interface.get_item("strides")? {
            Some(strides) if !strides.is_none() => strides.extract::<Vec<isize>>()?,
            _ => dlpack::packed(&shape, dtype),
        };
        if strides.len() != shape.len() {
            return Err(refuse(format!("has {} sides and {} strides", shape.len(), strides.len())));
        }
        let version: i64 = interface.get_item("version")?.map_or(Ok(0), |version| version.extract())?;
        let stream = match interface.get_item("stream")? {
            Some(stream) if !stream.is_none() => match stream.extract::<u64>()? {
                0 => return Err(refuse("says stream 0, which could be either default stream".to_owned())),
                handle => Some(handle),
            },
            // From version 3 on: complete already.
            _ if version >= 3 => None,
            _ => Some(order::LEGACY),
        };
        // The pixels are there for as long as the object is.
        let owner = Arc::new(self.object.clone().unbind());
        let index = self.index.and_then(|index| i32::try_from(index).ok()).unwrap_or_default();
        let device = (dlpack::CUDA, index);
        Ok(Found { tensor: Tensor { device, dtype, shape, strides, start, owner }, stream })
    }
}

/// How a tensor's samples lie.
fn layout(tensor: &Tensor, meaning: Meaning, batched: bool) -> Result<BatchLayout, Failed> {
    let (count, axes) = if batched { (tensor.shape.first().copied().unwrap_or(0), 1) } else { (1, 0) };
    if tensor.shape.len() < axes || count == 0 {
        return Err(Failed::usage(format!("a tensor of shape {:?} holds no images", tensor.shape)));
    }
    let lies =
        Strided { shape: &tensor.shape[axes..], strides: &tensor.strides[axes..], dtype: tensor.dtype };
    let desc = lies.desc(meaning)?;
    let strided = || {
        let one = lies.layout(desc)?;
        if count == 1 {
            return Some(one);
        }
        let batch_stride = usize::try_from(tensor.strides[0]).ok()?;
        let plane_stride = if desc.planes() == 1 { batch_stride } else { one.plane_stride };
        let layout = BatchLayout { batch_size: count, batch_stride, plane_stride, ..one };
        layout.check().is_ok().then_some(layout)
    };
    strided().ok_or_else(|| {
        Failed::usage(format!(
            "the pixels of this tensor of shape {:?} do not lie one behind the other as {}; use tensor.contiguous() (of CuPy: \
             cupy.ascontiguousarray)",
            tensor.shape,
            desc.layout()
        ))
    })
}
