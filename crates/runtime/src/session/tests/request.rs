use mip_core::{DType, HostStorage, ImageDesc, PixelFormat};

use super::*;

#[test]
fn inputs_that_do_not_fit_are_refused_by_name() {
    let device = interpreting_device(NullOptions::default());
    let session = session(&device, &chain());
    device.take_records();
    let refuse = |inputs| session.execute(RunRequest::new(inputs)).unwrap_err().to_string();
    assert_eq!(refuse(vec![]), "0 input images given, but the plan takes 1 (input)");
    let wide = ImageBuffer::new(gray(6, 3)).unwrap();
    assert_eq!(
        refuse(vec![wide]),
        "input 'input' is 6x3 gray u8 (batch of 1), but the plan was made for 5x3 gray u8 (batch of 1); \
         make a new plan for this shape"
    );
    assert!(refuse(vec![ramp(2, 0)]).contains("batch of 2"));
    assert_eq!(device.take_records(), [], "nothing was launched");
}

#[test]
fn uniforms_change_a_run_and_only_that_run() {
    let session = session(&interpreting_device(NullOptions::default()), &chain());
    let first = |request| {
        let report = session.execute(request).unwrap();
        report.outputs[0].as_ref().unwrap().to_bytes()[0]
    };
    let set = |values: [&[f32]; 3]| values.map(|v| -> Arc<[Uniforms]> { Arc::new([v.into()]) }).to_vec();
    let request = || RunRequest::new(vec![ramp(1, 1)]);
    assert_eq!(first(request()), 8);
    let uniforms = set([&[2.0, 0.0], &[3.0, 0.0], &[5.0, 1.0]]);
    assert_eq!(first(RunRequest { uniforms, ..request() }), 31);
    assert_eq!(first(request()), 8);

    let refuse = |uniforms| session.execute(RunRequest { uniforms, ..request() }).unwrap_err().to_string();
    let wrong = set([&[2.0, 0.0], &[3.0], &[5.0, 1.0]]);
    assert_eq!(refuse(wrong), "1 uniforms of kernel 'point' of task 'b' given, but the plan takes 2");
    let few = set([&[2.0, 0.0], &[3.0, 0.0], &[5.0, 1.0]])[..2].to_vec();
    assert_eq!(refuse(few), "2 sets of uniforms (one a group) given, but the plan takes 3");
}

#[derive(Debug)]
struct Camera(mip_core::AlignedBytes);

impl HostStorage for Camera {
    fn bytes(&self) -> &[u8] {
        self.0.as_slice()
    }
}

#[test]
fn aligned_inputs_are_read_in_place_and_others_copied() {
    let desc = ImageDesc::new(3, 2, PixelFormat::Gray, DType::U16).unwrap();
    let plan = PlanBuilder::adding_chain(1, desc).build();
    let device = interpreting_device(NullOptions::default());
    let session = session(&device, &plan);
    for (offset, uploads) in [(0, 0), (2, 0), (1, 1), (3, 1)] {
        let mut bytes = mip_core::AlignedBytes::zeroed(16);
        bytes.as_mut_slice()[offset..offset + 2].copy_from_slice(&1000_u16.to_ne_bytes());
        let layout = BatchLayout::tight(desc, 1).unwrap();
        let image = ImageBuffer::from_storage(layout, Arc::new(Camera(bytes)), offset).unwrap();
        device.take_records();
        let report = session.execute(RunRequest::new(vec![image])).unwrap();
        assert_eq!(report.outputs[0].as_ref().unwrap().view().row_as::<u16>(0, 0, 0), [1007, 7, 7]);
        let records = device.take_records();
        let copied = records.iter().filter(|r| r.to_string().contains("upload")).count();
        assert_eq!(copied, uploads, "offset {offset}");
    }
}

#[test]
fn inputs_may_have_any_strides() {
    for options in [NullOptions::default(), separate()] {
        let session = session(&interpreting_device(options), &chain());
        let layout = crate::testing::padded(gray(5, 3), 1, 4);
        let mut image = ImageBuffer::with_layout(layout).unwrap();
        image.view_mut().row_mut(0, 0, 2).copy_from_slice(&[1, 2, 3, 4, 5]);
        let report = session.execute(RunRequest::new(vec![image])).unwrap();
        assert_eq!(report.outputs[0].as_ref().unwrap().to_bytes()[10..], [8, 9, 10, 11, 12]);
    }
}
