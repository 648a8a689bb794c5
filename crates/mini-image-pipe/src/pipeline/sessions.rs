//! Keeping what is expensive to make: plans and loaded kernels, by input shape.

use std::num::NonZero;
use std::sync::Arc;

use mip_core::ImageDesc;
use mip_plan::Uniforms;
use mip_runtime::device::Device;
use mip_runtime::profiling::Kind;
use mip_runtime::{Session, SessionOptions, SessionRing};

use super::Pipeline;
use crate::Error;
use crate::device::same;

/// Shapes kept at once: enough for a stream that alternates between a few sizes, and for the last, smaller
/// batch beside the full one.
const KEPT: usize = 4;

#[derive(Debug, Default)]
pub(super) struct Sessions {
    /// Most recently used last.
    kept: Vec<Kept>,
    topology_version: u64,
}

#[derive(Debug)]
struct Kept {
    inputs: Vec<ImageDesc>,
    batch: usize,
    /// One session; frame streams add siblings.
    ring: SessionRing,
    uniforms: Vec<Arc<[Uniforms]>>,
    uniform_version: u64,
}

/// A session ready to run and the uniforms of now.
pub(super) struct Ready {
    pub(super) session: Arc<Session>,
    pub(super) uniforms: Vec<Arc<[Uniforms]>>,
}

impl Sessions {
    /// Gives up the sessions of devices other than this one.
    pub(super) fn keep_only(&mut self, device: &Arc<dyn Device>) {
        self.kept.retain(|kept| same(kept.ring.first().device(), device));
    }

    /// Gives back the memory kept between executions.
    pub(super) fn trim(&self) {
        self.kept.iter().for_each(|kept| kept.ring.trim());
    }
}

impl Pipeline {
    /// The session for these input shapes and batch, made if there is none.
    pub(super) fn ready(&mut self, inputs: &[ImageDesc], batch: usize) -> Result<Ready, Error> {
        let kept = self.kept(inputs, batch)?;
        Ok(Ready { session: kept.ring.first().clone(), uniforms: kept.uniforms.clone() })
    }

    /// The session for the next frame of a stream of `width` frames in flight.
    pub(super) fn ready_in_turn(
        &mut self,
        inputs: &[ImageDesc],
        width: NonZero<usize>,
    ) -> Result<Ready, Error> {
        let kept = self.kept(inputs, 1)?;
        Ok(Ready { session: kept.ring.turn(width)?, uniforms: kept.uniforms.clone() })
    }

    fn kept(&mut self, inputs: &[ImageDesc], batch: usize) -> Result<&mut Kept, Error> {
        if self.sessions.topology_version != self.graph.topology_version() {
            self.sessions.kept.clear();
            self.sessions.topology_version = self.graph.topology_version();
        }
        let found = self.sessions.kept.iter().position(|k| k.inputs == inputs && k.batch == batch);
        let mut kept = match found {
            Some(index) => self.sessions.kept.remove(index),
            None => self.make_session(inputs, batch)?,
        };
        if kept.uniform_version != self.graph.uniform_version() {
            kept.uniforms = mip_graph::uniforms(&self.graph, inputs, kept.ring.first().plan())?;
            kept.uniform_version = self.graph.uniform_version();
        }
        if self.sessions.kept.len() == KEPT {
            self.sessions.kept.remove(0);
        }
        Ok(self.sessions.kept.push_mut(kept))
    }

    fn make_session(&self, inputs: &[ImageDesc], batch: usize) -> Result<Kept, Error> {
        let span = self.scheduler.probe().span(Kind::Plan, || format!("batch of {batch}"));
        let plan = Arc::new(self.plan_for(inputs, batch)?);
        span.end();
        let uniforms = mip_graph::uniforms(&self.graph, inputs, &plan)?;
        let device = self.config.device.open()?;
        let options = SessionOptions {
            poison: self.config.poison,
            replay: self.config.enable_graph_replay,
            scheduler: self.scheduler.clone(),
        };
        let session = Session::new(device, self.memory()?, plan, options)?;
        Ok(Kept {
            inputs: inputs.to_vec(),
            batch,
            ring: SessionRing::new(Arc::new(session)),
            uniforms,
            uniform_version: self.graph.uniform_version(),
        })
    }
}
