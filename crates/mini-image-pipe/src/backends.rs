use std::fmt;
use std::sync::Arc;

use mip_core::text::quoted;
#[cfg(feature = "cpu")]
use mip_cpu::CpuBackend;
#[cfg(feature = "cuda")]
use mip_cuda::CudaBackend;
use mip_runtime::device::{Backend, Device as RuntimeDevice, DeviceError, DeviceKind};

use crate::{Device, Error};

/// The kinds of devices that a program knows, by which devices are named. The list is open: [`Backends::with`].
#[derive(Debug, Clone)]
pub struct Backends {
    /// Those that `auto` tries first stand last.
    list: Vec<Arc<dyn Backend>>,
}

impl Default for Backends {
    /// Those that were compiled in: the features `cpu` and `cuda`.
    fn default() -> Self {
        let list: Vec<Arc<dyn Backend>> = vec![
            #[cfg(feature = "cpu")]
            Arc::new(CpuBackend::default()),
            #[cfg(feature = "cuda")]
            Arc::new(CudaBackend::default()),
        ];
        Self { list }
    }
}

impl Backends {
    /// None at all.
    pub const fn none() -> Self {
        Self { list: Vec::new() }
    }

    /// One more, in place of one whose devices have the same name. `auto` tries it before the others.
    #[must_use]
    pub fn with(mut self, backend: Arc<dyn Backend>) -> Self {
        self.list.retain(|other| other.kind() != backend.kind());
        self.list.push(backend);
        self
    }

    /// All of them; those that `auto` tries first stand last.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<dyn Backend>> {
        self.list.iter()
    }

    /// A device by its name: `auto`, a kind (`cpu`, `cuda`), or a kind and an index (`cuda:1`).
    ///
    /// # Errors
    /// [`Error::Config`] with the names there are; for `auto` as for [`Backends::auto`].
    ///
    /// ```
    /// use mini_image_pipe::Backends;
    ///
    /// let refused = Backends::default().device("gpu").unwrap_err();
    /// assert_eq!(refused.to_string(), "`device` is gpu, but must be auto, cpu, cuda or cuda:N");
    /// ```
    pub fn device(&self, name: &str) -> Result<Device, Error> {
        if name == "auto" {
            return Ok(self.auto()?.0);
        }
        let (kind, index) = match name.split_once(':') {
            None => (name, Some(0)),
            Some((kind, index)) => (kind, index.parse().ok()),
        };
        let found = self.list.iter().find(|backend| backend.kind().name() == kind);
        let named = found.filter(|backend| backend.has_index() || !name.contains(':')).zip(index);
        let (backend, index) = named.ok_or_else(|| Error::Config {
            setting: "device",
            given: quoted(name).to_string(),
            allowed: self.names().into(),
        })?;
        Ok(Device::of(backend.clone(), index))
    }

    /// Devices by their names, separated by commas: as [`Backends::device`] takes each; also `cuda:all`, all that there are of a
    /// kind, and `all`, all that can be used, those that `auto` prefers first.
    ///
    /// # Errors
    /// As for [`Backends::device`]; when a device is named twice, or there is none of the kind.
    ///
    /// ```
    /// use mini_image_pipe::Backends;
    ///
    /// # #[cfg(feature = "cpu")] {
    /// let refused = Backends::default().devices("cpu,cpu").unwrap_err();
    /// assert_eq!(refused.to_string(), "`device` is cpu,cpu, but must be a list in which each stands once");
    /// # }
    /// ```
    pub fn devices(&self, names: &str) -> Result<Vec<Device>, Error> {
        let refused = |allowed: String| Error::Config {
            setting: "device",
            given: quoted(names).to_string(),
            allowed: allowed.into(),
        };
        if names == "all" {
            let all: Vec<Device> = self.list.iter().rev().flat_map(usable).collect();
            return if all.is_empty() { Ok(vec![self.auto()?.0]) } else { Ok(all) };
        }
        let mut devices: Vec<Device> = Vec::new();
        for name in names.split(',').map(str::trim) {
            let kind =
                name.strip_suffix(":all").map(|kind| self.list.iter().find(|b| b.kind().name() == kind));
            match kind.flatten().filter(|backend| backend.has_index()) {
                Some(backend) => {
                    // Why the first one cannot be used is why there is none.
                    backend.usable(0).map_err(DeviceError::Unsupported)?;
                    devices.extend(usable(backend));
                }
                None => devices.push(self.device(name)?),
            }
        }
        let twice = |(index, device): (usize, &Device)| {
            devices[..index].iter().any(|other| other.is_named_as(device))
        };
        if devices.iter().enumerate().any(twice) {
            return Err(refused("a list in which each stands once".to_owned()));
        }
        Ok(devices)
    }

    /// The first device of the last backend that can use one, opened; and why those tried before cannot.
    ///
    /// # Errors
    /// When the device chosen cannot be opened, or there is none.
    pub fn auto(&self) -> Result<(Device, Option<String>), Error> {
        let mut reasons = Vec::new();
        for backend in self.list.iter().rev() {
            match backend.usable(0) {
                Ok(()) => {
                    let device = Device::of(backend.clone(), 0);
                    device.open()?;
                    return Ok((device, (!reasons.is_empty()).then(|| reasons.join("; "))));
                }
                Err(reason) => reasons.push(reason),
            }
        }
        let device = Device::of(Arc::new(Nothing), 0);
        device.open()?;
        Ok((device, None))
    }

    /// `auto, cpu, cuda or cuda:N`
    fn names(&self) -> String {
        let mut names = vec!["auto".to_owned()];
        for backend in &self.list {
            names.push(backend.kind().to_string());
            if backend.has_index() {
                names.push(format!("{}:N", backend.kind()));
            }
        }
        let last = names.pop().expect("`auto` at least");
        if names.is_empty() { last } else { format!("{} or {last}", names.join(", ")) }
    }
}

/// The devices of a backend that can be used, up to the first that cannot.
fn usable(backend: &Arc<dyn Backend>) -> impl Iterator<Item = Device> + use<> {
    let last = if backend.has_index() { usize::MAX } else { 1 };
    let backend = backend.clone();
    (0..last)
        .map_while(move |index| backend.usable(index).is_ok().then(|| Device::of(backend.clone(), index)))
}

/// Stands where no backend was compiled in.
#[derive(Debug)]
pub(crate) struct Nothing;

impl Backend for Nothing {
    fn kind(&self) -> DeviceKind {
        DeviceKind::new("none")
    }

    fn usable(&self, _index: usize) -> Result<(), String> {
        Err("this program was built without a device; enable the feature `cpu` or `cuda`".to_owned())
    }

    fn open(&self, index: usize, _synchronous: bool) -> Result<Arc<dyn RuntimeDevice>, DeviceError> {
        Err(DeviceError::Unsupported(self.usable(index).expect_err("never usable")))
    }
}

/// A device that was made elsewhere.
#[derive(Debug)]
pub(crate) struct Given(pub(crate) Arc<dyn RuntimeDevice>);

impl Backend for Given {
    fn kind(&self) -> DeviceKind {
        self.0.info().kind
    }

    fn usable(&self, _index: usize) -> Result<(), String> {
        Ok(())
    }

    fn open(&self, _index: usize, _synchronous: bool) -> Result<Arc<dyn RuntimeDevice>, DeviceError> {
        Ok(self.0.clone())
    }

    fn reopens(&self) -> Result<(), DeviceError> {
        Err(DeviceError::Unsupported("it was made elsewhere; make it anew there".to_owned()))
    }
}

/// Makes a device; the argument: whether each launch has to be waited for.
pub(crate) struct Opener<F>(pub(crate) F);

impl<F> fmt::Debug for Opener<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Opener")
    }
}

impl<F> Backend for Opener<F>
where
    F: Fn(bool) -> Result<Arc<dyn RuntimeDevice>, DeviceError> + Send + Sync,
{
    fn kind(&self) -> DeviceKind {
        DeviceKind::new("made")
    }

    fn usable(&self, _index: usize) -> Result<(), String> {
        Ok(())
    }

    fn open(&self, _index: usize, synchronous: bool) -> Result<Arc<dyn RuntimeDevice>, DeviceError> {
        (self.0)(synchronous)
    }
}

#[cfg(test)]
mod tests {
    use mip_runtime::device::null::{NullDevice, NullOptions};

    use super::*;

    /// A backend of somebody else, with two devices.
    #[derive(Debug)]
    struct Mine;

    impl Backend for Mine {
        fn kind(&self) -> DeviceKind {
            DeviceKind::new("mine")
        }

        fn usable(&self, index: usize) -> Result<(), String> {
            if index < 2 { Ok(()) } else { Err(format!("there is no mine:{index}")) }
        }

        fn open(&self, index: usize, _: bool) -> Result<Arc<dyn RuntimeDevice>, DeviceError> {
            self.usable(index).map_err(DeviceError::Unsupported)?;
            Ok(NullDevice::new(NullOptions::default()))
        }
    }

    #[test]
    fn anybodys_devices_have_names_too() {
        let backends = Backends::none().with(Arc::new(Mine));
        assert!(backends.device("mine:1").unwrap().open().is_ok());
        assert!(backends.device("auto").unwrap().open().is_ok());
        let missing = backends.device("mine:2").unwrap().open().unwrap_err().to_string();
        assert!(missing.ends_with("there is no mine:2"), "{missing}");
        for wrong in ["cpu", "mine:", "mine:x", "mine:-1", "", "mine:1:2"] {
            let text = backends.device(wrong).unwrap_err().to_string();
            assert!(text.ends_with("but must be auto, mine or mine:N"), "{text}");
        }
        assert_eq!(backends.with(Arc::new(Mine)).iter().count(), 1, "in place of the one before");
    }

    #[test]
    fn without_a_backend_the_error_names_the_features() {
        let text = Backends::none().auto().unwrap_err().to_string();
        assert!(text.contains("enable the feature `cpu` or `cuda`"), "{text}");
        let text = Backends::none().device("cpu").unwrap_err().to_string();
        assert!(text.ends_with("but must be auto"), "{text}");
    }

    #[test]
    fn several_devices_are_named_in_a_list() {
        let backends = Backends::none().with(Arc::new(Mine));
        for (names, count) in
            [("mine:0,mine:1", 2), ("mine", 1), ("mine:all", 2), ("all", 2), ("mine:1, mine", 2)]
        {
            assert_eq!(backends.devices(names).unwrap().len(), count, "{names}");
        }
        for twice in ["mine,mine:0", "mine:all,mine:1"] {
            let text = backends.devices(twice).unwrap_err().to_string();
            assert!(text.contains("each stands once"), "{text}");
        }
        for wrong in ["", "mine:all:1", "mine,", "all,mine"] {
            let text = backends.devices(wrong).unwrap_err().to_string();
            assert!(text.ends_with("but must be auto, mine or mine:N"), "{text}");
        }
    }

    #[cfg(feature = "cpu")]
    #[test]
    fn the_cpu_has_no_index() {
        assert!(Backends::default().device("cpu:0").is_err());
    }
}
