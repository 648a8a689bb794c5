use std::sync::{Arc, Mutex};

use mip_core::ImageBuffer;
use mip_plan::Plan;

use super::*;
use crate::device::null::{NullDevice, NullOptions};
use crate::testing::{PlanBuilder, gray, interpreting_device};
use crate::{ManagerOptions, TaskState};

pub(super) fn image(batch: usize) -> ImageBuffer {
    let desc = gray(5, 3);
    let mut image = ImageBuffer::with_layout(mip_core::BatchLayout::tight(desc, batch).unwrap()).unwrap();
    for (i, byte) in image.view_mut().data_mut().iter_mut().enumerate() {
        *byte = i as u8;
    }
    image
}

fn session(device: &Arc<NullDevice>, plan: Arc<Plan>) -> Session {
    let device: Arc<dyn Device> = device.clone();
    let manager = MemoryManager::new(device.clone(), ManagerOptions::default());
    let options = SessionOptions { poison: true, ..SessionOptions::default() };
    Session::new(device, manager, plan, options).unwrap()
}

#[test]
fn a_diamond_computes_on_unified_and_on_separate_memory() {
    for unified_memory in [true, false] {
        let device = interpreting_device(NullOptions { unified_memory, ..NullOptions::default() });
        let session = session(&device, PlanBuilder::diamond(2, gray(5, 3)).build());
        let report = session.execute(RunRequest::new(vec![image(2)])).unwrap();
        assert_eq!(report.error, None);
        assert!(report.tasks.iter().all(|t| t.state == TaskState::Completed && t.invocations == 1));
        let bytes = |i: usize| report.outputs[i].as_ref().unwrap().to_bytes();
        let expect = |f: &dyn Fn(u8) -> u8| (0..30).map(f).collect::<Vec<_>>();
        assert_eq!(bytes(0), expect(&|v| 2 * v + 8));
        assert_eq!(bytes(1), expect(&|v| v + 16));
        assert_eq!(bytes(2), expect(&|v| v + 5));
    }
    let _ = Mutex::new(());
}
