//! What each device is to do with a job.

use std::fmt;
use std::sync::{Arc, OnceLock};

use mip_plan::{Plan, Uniforms};

use crate::{Device, Error};

/// What a device does with a job.
#[derive(Debug)]
pub(crate) struct DevicePlan {
    pub(crate) plan: Arc<Plan>,
    pub(crate) uniforms: Vec<Arc<[Uniforms]>>,
}

/// The plan of one of several devices.
#[derive(Debug)]
pub(super) enum Slot {
    /// None: the device could not be used.
    Nothing,
    Made(DevicePlan),
    /// Made by the thread of a device that is opened in the background, once it is open.
    Later {
        made: OnceLock<Result<DevicePlan, Error>>,
        maker: Maker,
    },
}

impl Slot {
    pub(super) const fn later(maker: Maker) -> Self {
        Self::Later { made: OnceLock::new(), maker }
    }

    /// The plan, if it has been made.
    pub(super) fn get(&self) -> Option<&DevicePlan> {
        match self {
            Self::Nothing => None,
            Self::Made(plan) => Some(plan),
            Self::Later { made, .. } => made.get().and_then(|made| made.as_ref().ok()),
        }
    }

    /// The plan; makes it, unless somebody has.
    pub(super) fn make(&self, device: &Device) -> Result<&DevicePlan, Error> {
        match self {
            Self::Nothing => {
                Err(Error::Usage("internal error: a plan for a device that has none".to_owned()))
            }
            Self::Made(plan) => Ok(plan),
            Self::Later { made, maker } => {
                made.get_or_init(|| (maker.0)(device)).as_ref().map_err(Error::clone)
            }
        }
    }

    /// Whether there is a plan or may be one.
    pub(super) fn is_possible(&self) -> bool {
        match self {
            Self::Nothing => false,
            Self::Made(_) => true,
            Self::Later { made, .. } => !matches!(made.get(), Some(Err(_))),
        }
    }
}

/// Makes a plan for a device, which it opens.
pub(crate) type Make<'a> = dyn Fn(&Device) -> Result<DevicePlan, Error> + 'a;

/// One for another thread.
pub(crate) struct Maker(Box<MakeThere>);

type MakeThere = dyn Fn(&Device) -> Result<DevicePlan, Error> + Send + Sync;

impl Maker {
    pub(crate) fn new(make: impl Fn(&Device) -> Result<DevicePlan, Error> + Send + Sync + 'static) -> Self {
        Self(Box::new(make))
    }
}

impl fmt::Debug for Maker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Maker")
    }
}
