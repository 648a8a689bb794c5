use std::fmt;
use std::sync::Arc;

use mip_core::ImageDesc;
use mip_plan::{CustomKernel, Kernel, Uniforms};

use crate::{Extra, Lowered, OpError, Operator, OperatorSpec, ParamError, Value};

/// Makes the description of the result from those of the inputs.
type Describe = dyn Fn(&[ImageDesc]) -> Result<ImageDesc, OpError> + Send + Sync;

/// Slot names; a kernel has as many inputs as there are names at most.
const SLOTS: [&str; 8] = ["a", "b", "c", "d", "e", "f", "g", "h"];

/// One specification for each number of inputs, from 1.
static SPECS: [OperatorSpec; SLOTS.len()] =
    [spec(1), spec(2), spec(3), spec(4), spec(5), spec(6), spec(7), spec(8)];

const fn spec(inputs: usize) -> OperatorSpec {
    const NAMES: &[&str] = &SLOTS;
    OperatorSpec {
        name: "custom",
        summary: "A computation of your own",
        inputs: NAMES.split_at(inputs).0,
        params: &[],
        extra: Extra::NONE,
        examples: &[],
        create: |_| Err(ParamError::UnknownOperator { operator: "custom".to_owned(), suggestion: None }),
    }
}

/// An operator around a [`CustomKernel`]: a computation of the user's own, in a graph like any other.
///
/// It takes as many inputs as the kernel says (1 to 8; slots `a`, `b`, ...). It is not fused, has no name in
/// pipeline files and no parameters by name; its uniforms are those given when it was made. For parameters that
/// can be set by name, implement [`Operator`] and lower to [`Kernel::Custom`]. On a GPU it runs if the kernel
/// has [CUDA source](CustomKernel::cuda_source).
#[derive(Clone)]
pub struct Custom {
    kernel: Arc<dyn CustomKernel>,
    describe: Arc<Describe>,
    uniforms: Uniforms,
}

impl Custom {
    /// An operator whose result looks like its first input.
    pub fn new(kernel: Arc<dyn CustomKernel>) -> Self {
        Self { kernel, describe: Arc::new(|inputs| Ok(inputs[0])), uniforms: [].into() }
    }

    /// With a result described from the inputs, which are as many as the kernel has. An error refuses the
    /// inputs before anything runs.
    #[must_use]
    pub fn output(
        self,
        describe: impl Fn(&[ImageDesc]) -> Result<ImageDesc, OpError> + Send + Sync + 'static,
    ) -> Self {
        Self { describe: Arc::new(describe), ..self }
    }

    /// With these numbers handed to the kernel at every run.
    #[must_use]
    pub fn uniforms(self, uniforms: impl Into<Uniforms>) -> Self {
        Self { uniforms: uniforms.into(), ..self }
    }
}

impl fmt::Debug for Custom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kernel, describe: _, uniforms } = self;
        f.debug_struct("Custom").field("kernel", kernel).field("uniforms", uniforms).finish_non_exhaustive()
    }
}

impl Operator for Custom {
    fn spec(&self) -> &'static OperatorSpec {
        &SPECS[self.kernel.input_count().clamp(1, SPECS.len()) - 1]
    }

    fn get(&self, _parameter: &str) -> Option<Value> {
        None
    }

    fn set(&mut self, parameter: &str, _value: Value) -> Result<(), ParamError> {
        // There are none, so that this always is the error.
        self.spec().param(parameter).map(drop)
    }

    fn infer(&self, inputs: &[ImageDesc]) -> Result<ImageDesc, OpError> {
        let spec = self.spec();
        let expected = self.kernel.input_count();
        if inputs.len() != expected || expected != spec.inputs.len() {
            let slots = format!("1 to {} are possible: {}", SLOTS.len(), SLOTS.join(", "));
            return Err(OpError::InputCount { operator: spec.name, expected, slots, given: inputs.len() });
        }
        (self.describe)(inputs)
    }

    fn lower(&self, inputs: &[ImageDesc]) -> Result<Lowered, OpError> {
        let output = self.infer(inputs)?;
        Ok(Lowered::single(Kernel::Custom(self.kernel.clone()), self.uniforms.clone(), output))
    }

    fn clone_box(&self) -> Box<dyn Operator> {
        Box::new(self.clone())
    }
}

#[cfg(test)]
mod tests {
    use mip_core::{DType, ImageView, ImageViewMut, PixelFormat};
    use mip_plan::CustomError;

    use super::*;

    #[derive(Debug)]
    struct Nothing(usize);

    impl CustomKernel for Nothing {
        fn name(&self) -> &'static str {
            "nothing"
        }

        fn input_count(&self) -> usize {
            self.0
        }

        fn run(&self, _: &[ImageView<'_>], _: &[f32], _: &mut ImageViewMut<'_>) -> Result<(), CustomError> {
            Ok(())
        }
    }

    #[test]
    fn inputs_output_and_uniforms_reach_the_kernel() {
        let image = ImageDesc::new(5, 3, PixelFormat::Rgb, DType::U8).unwrap();
        let op = Custom::new(Arc::new(Nothing(2)))
            .output(|inputs| Ok(inputs[1].with_size(1, 1).unwrap()))
            .uniforms([1.0, 2.0]);
        assert_eq!(op.spec().inputs, ["a", "b"]);
        let lowered = op.lower(&[image, image]).unwrap();
        assert_eq!(
            (lowered.steps[0].inputs.len(), lowered.steps[0].output),
            (2, image.with_size(1, 1).unwrap())
        );
        assert_eq!(lowered.steps[0].uniforms[..], [1.0, 2.0]);
        assert_eq!(lowered, op.clone_box().lower(&[image, image]).unwrap());
    }

    #[test]
    fn wrong_counts_and_results_are_refused() {
        let image = ImageDesc::new(5, 3, PixelFormat::Rgb, DType::U8).unwrap();
        for count in [0, 9] {
            let op = Custom::new(Arc::new(Nothing(count)));
            assert!(matches!(op.infer(&vec![image; count]), Err(OpError::InputCount { .. })), "{count}");
        }
        assert!(matches!(Custom::new(Arc::new(Nothing(1))).infer(&[]), Err(OpError::InputCount { .. })));
        let empty = Custom::new(Arc::new(Nothing(1))).output(|inputs| Ok(inputs[0].with_size(0, 1)?));
        assert!(matches!(empty.infer(&[image]), Err(OpError::Image(_))));
        let unknown = Custom::new(Arc::new(Nothing(1))).set("x", Value::Int(1)).unwrap_err().to_string();
        assert_eq!(unknown, "'custom' has no parameter 'x'; it has: none");
    }
}
