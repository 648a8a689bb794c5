use mip_core::ImageDesc;
use mip_plan::{Border, Coordinates};

use crate::border::{BORDER, BORDER_VALUE};
use crate::choice::choice;
use crate::field::{Parameters, create, fields, plumbing};
use crate::sampling::{FILTER, SamplingFields, WarpFilter};
use crate::{Extra, Lowered, OpError, Operator, OperatorSpec, ParamError, ParamKind, ParamSpec};

/// The inner parameters of a camera.
const CAMERA: ParamKind = ParamKind::numbers(&[4], 1e9);

pub(crate) static SPEC: OperatorSpec = OperatorSpec {
    name: "undistort",
    summary: "Removes the distortion of a camera's lens",
    inputs: &["in"],
    params: &[
        ParamSpec::new(
            "camera",
            CAMERA,
            "[fx, fy, cx, cy]: focal lengths and centre of the camera, in pixels",
        )
        .required()
        .uniform(),
        ParamSpec::new(
            "distortion",
            ParamKind::numbers(&[4, 5, 8, 12], 1e6),
            "[k1, k2, p1, p2] and further k3, k4 k5 k6, s1 s2 s3 s4 of brown; [k1, k2, k3, k4] of fisheye",
        )
        .required()
        .uniform(),
        ParamSpec::new("new_camera", CAMERA, "[fx, fy, cx, cy] of the result, those of camera if not given")
            .uniform(),
        ParamSpec::new("model", ParamKind::choice(MODELS), "What the lens does").default_is("brown"),
        FILTER,
        BORDER.default_is("constant"),
        BORDER_VALUE,
    ],
    extra: Extra::NONE,
    examples: &[
        "camera=[20,21,9.5,5] distortion=[-0.3,0.1,0.001,-0.002]",
        "camera=[30,30,8,4] distortion=[-0.1,0.05,-0.02,0.01] model=fisheye new_camera=[20,20,9,5] border=replicate",
        "camera=[25,24,10,6] distortion=[0.2,-0.1,0.01,0.02,0.05] filter=nearest border=reflect",
        "camera=[22,20,8,6] distortion=[-0.2,0.04,0.01,0.003,0.02,-0.1,0.03,0.01,0.02,-0.01,0.03,0.004] new_camera=[9,9,8,5] model=brown filter=bicubic border=constant border_value=1",
    ],
    create: create::<Undistort>,
};

choice! {
    /// What a lens does to directions.
    pub enum LensModel as MODELS {
        /// Brown's model: radial, tangential, rational and thin prism terms ([`Coordinates::Brown`]).
        #[default]
        Brown = "brown",
        /// Distances from the centre go with the angle ([`Coordinates::Fisheye`]).
        Fisheye = "fisheye",
    }
}

/// What a camera without distortion would have seen. `camera` holds the focal lengths and the centre of the one that took the
/// image, `[fx, fy, cx, cy]` in pixels; whole coordinates are centres of pixels. The result, as large as the input, is seen by
/// `new_camera`, the same one if not given.
///
/// For each pixel of the result the ray that `new_camera` sees there is bent as the lens does, and the input is sampled where
/// it falls, at coordinates made in f32 (see [`Coordinates::Brown`] and [`Coordinates::Fisheye`]; 1 / f and c / f are made in
/// f64): a thousandth of a pixel from the exact ones at 4000 pixels. Sampling is as of [`crate::WarpAffine`].
///
/// As `OpenCV`'s `undistort` and `fisheye::undistortImage` (`initUndistortRectifyMap` and `remap`), without the tilt of the
/// sensor that fourteen coefficients describe.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Undistort {
    camera: Vec<f64>,
    distortion: Vec<f64>,
    new_camera: Option<Vec<f64>>,
    model: LensModel,
    sampling: SamplingFields,
}

impl Undistort {
    /// For a camera `[fx, fy, cx, cy]` with 4, 5, 8 or 12 coefficients of [`LensModel::Brown`].
    pub fn brown(camera: [f64; 4], distortion: &[f64]) -> Self {
        Self { camera: camera.to_vec(), distortion: distortion.to_vec(), ..Self::default() }
    }

    /// For a camera `[fx, fy, cx, cy]` with a lens of [`LensModel::Fisheye`].
    pub fn fisheye(camera: [f64; 4], distortion: [f64; 4]) -> Self {
        Self { model: LensModel::Fisheye, ..Self::brown(camera, &distortion) }
    }

    /// Seen by this camera.
    #[must_use]
    pub fn new_camera(self, camera: [f64; 4]) -> Self {
        Self { new_camera: Some(camera.to_vec()), ..self }
    }

    /// With this filter; [`WarpFilter::Bilinear`] by default.
    #[must_use]
    pub fn filter(self, filter: WarpFilter) -> Self {
        Self { sampling: SamplingFields { filter, ..self.sampling }, ..self }
    }

    /// With this border; a constant of 0 by default.
    #[must_use]
    pub fn border(self, border: Border) -> Self {
        Self { sampling: SamplingFields { border: border.into(), ..self.sampling }, ..self }
    }

    const fn coordinates(&self) -> Coordinates {
        match self.model {
            LensModel::Brown => Coordinates::Brown,
            LensModel::Fisheye => Coordinates::Fisheye,
        }
    }

    /// The numbers of [`Undistort::coordinates`]: terms that are not given are 0.
    fn uniforms(&self) -> Vec<f32> {
        let camera = |c: &[f64]| <[f64; 4]>::try_from(c).expect("checked: four numbers");
        let [fx, fy, cx, cy] = camera(self.new_camera.as_ref().unwrap_or(&self.camera));
        let rays = [1.0 / fx, -cx / fx, 1.0 / fy, -cy / fy];
        let [fx, fy, cx, cy] = camera(&self.camera);
        let source = [fx, cx, fy, cy];
        let numbers = rays.iter().chain(&source).chain(&self.distortion).copied();
        let all = numbers.chain(std::iter::repeat(0.0)).take(self.coordinates().uniform_count());
        all.map(|v| v as f32).collect()
    }
}

impl Parameters for Undistort {
    fields! {
        "camera" => camera,
        "distortion" => distortion,
        "new_camera" => new_camera,
        "model" => model,
        "filter" => sampling.filter,
        "border" => sampling.border.mode,
        "border_value" => sampling.border.value,
    }

    fn conflicts(&self) -> Result<(), ParamError> {
        let cameras = [("camera", Some(&self.camera)), ("new_camera", self.new_camera.as_ref())];
        for (name, camera) in cameras {
            // Of another number the specification says more.
            let Some(camera) = camera.filter(|camera| camera.len() == 4) else { continue };
            let fits = |f: f64, c: f64| ((1.0 / f) as f32).is_finite() && ((c / f) as f32).is_finite();
            if !(fits(camera[0], camera[2]) && fits(camera[1], camera[3])) {
                let allowed = "[fx, fy, cx, cy] with focal lengths other than 0";
                return Err(self.invalid(name, format!("{camera:?}"), allowed));
            }
        }
        self.sampling.border.conflicts(self)
    }
}

impl Operator for Undistort {
    plumbing!(SPEC);

    fn infer(&self, inputs: &[ImageDesc]) -> Result<ImageDesc, OpError> {
        let [input] = self.accept(inputs)?;
        let count = self.distortion.len();
        if self.model == LensModel::Fisheye && count != 4 {
            let allowed = "four, k1 to k4, for model = fisheye; model = brown takes more";
            return Err(self.invalid("distortion", format!("{count} numbers"), allowed).into());
        }
        self.sampling.border.resolve(self, &input)?;
        Ok(input)
    }

    fn lower(&self, inputs: &[ImageDesc]) -> Result<Lowered, OpError> {
        let output = self.infer(inputs)?;
        let kernel = self.sampling.kernel(self, self.coordinates(), &inputs[0])?;
        Ok(Lowered::single(kernel, self.uniforms(), output))
    }
}

#[cfg(test)]
mod tests {
    use mip_core::{DType, PixelFormat};

    use super::*;

    const CAMERA: [f64; 4] = [20.0, 10.0, 8.0, 4.0];

    fn image() -> ImageDesc {
        ImageDesc::new(16, 9, PixelFormat::Gray, DType::U8).unwrap()
    }

    #[test]
    fn terms_that_are_not_given_are_zero() {
        let lens = Undistort::brown(CAMERA, &[1.0, 2.0, 3.0, 4.0, 5.0]).new_camera([4.0, 8.0, 2.0, 2.0]);
        let uniforms = lens.lower(&[image()]).unwrap().steps[0].uniforms.to_vec();
        assert_eq!(uniforms[..8], [0.25, -0.5, 0.125, -0.25, 20.0, 8.0, 10.0, 4.0]);
        assert_eq!(uniforms[8..], [1.0, 2.0, 3.0, 4.0, 5.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
        // Without distortion a pixel stays where it is.
        let plain = Undistort::brown(CAMERA, &[0.0; 4]).lower(&[image()]).unwrap();
        let at = Coordinates::Brown.source(&plain.steps[0].uniforms, (5, 7), [0.0; 2], (16, 9));
        assert!(at.is_some_and(|[x, y]| (x - 5.0).abs() < 1e-5 && (y - 7.0).abs() < 1e-5));
    }

    #[test]
    fn what_does_not_fit_is_named() {
        let refusal = |lens: Undistort| lens.infer(&[image()]).unwrap_err().to_string();
        let flat = refusal(Undistort::brown([0.0, 10.0, 8.0, 4.0], &[0.0; 4]));
        assert!(flat.contains("with focal lengths other than 0"), "{flat}");
        assert!(refusal(Undistort::brown(CAMERA, &[0.0; 6])).contains("a list of 4, 5, 8 or 12 numbers"));
        let many = Undistort { model: LensModel::Fisheye, ..Undistort::brown(CAMERA, &[0.0; 8]) };
        assert!(refusal(many).contains("is 8 numbers, but must be four, k1 to k4"));
    }
}
