//! Images as pictures: PNG files, per-pixel comparison with tolerances, difference images.
//!
//! Colors are compared as CIE76 distances (the Euclidean distance in L*a*b*, D65); 2.3 is a just noticeable difference.

use crate::case::Buffer;
use crate::case::pipeline::DataFormat;
use half::f16;
use image::{ImageBuffer, Rgba};
use serde::Deserialize;
use std::path::Path;

/// Distance from which a difference is called visible.
pub const VISIBLE: f64 = 2.3;

/// A picture of 16 bits per component.
pub type Picture = ImageBuffer<Rgba<u16>, Vec<u16>>;

/// One rule that a pair of pictures must meet.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, tag = "Type")]
pub enum PictureRule {
    /// The greatest distance of a pixel is at most this.
    Furthest {
        /// The bound.
        #[serde(rename = "Val")]
        bound: f64,
    },
    /// The root of the mean distance is at most this.
    #[serde(rename = "RMS")]
    Rms {
        /// The bound.
        #[serde(rename = "Val")]
        bound: f64,
    },
    /// The same over visibly different pixels only.
    #[serde(rename = "DiffRMS")]
    DiffRms {
        /// The bound.
        #[serde(rename = "Val")]
        bound: f64,
    },
    /// At most this percentage of pixels is visibly different.
    PixelPercent {
        /// The bound.
        #[serde(rename = "Val")]
        bound: f64,
    },
    /// Percentages of pixels by how far they are past visibility, in steps of one; what is not listed is zero.
    Intervals {
        /// The bounds.
        #[serde(rename = "Vals")]
        bounds: Vec<f64>,
    },
}

/// Reads a list of rules.
pub fn parse_rules(yaml: &str) -> Result<Vec<PictureRule>, String> {
    serde_yaml_ng::from_str(yaml).map_err(|e| e.to_string())
}

/// Whether a buffer can be shown: a two-dimensional image of one block with 1 to 4 components.
pub fn is_picture(b: &Buffer) -> bool {
    b.output.width > 0 && b.output.height > 0 && b.data.len() == 1 && (1..=4).contains(&b.channels)
}

/// Mip level 0 of an image, values clamped to 0..1 (floats) or scaled by the format's range (integers).
pub fn from_buffer(b: &Buffer) -> Option<Picture> {
    if !is_picture(b) {
        return None;
    }
    let channels = b.channels as usize;
    let size = b.format.size();
    let data = b.data.first()?;
    let component = |index: usize| -> Option<u16> {
        let c = data.get(index * size..(index + 1) * size)?;
        let bits = c.iter().rev().fold(0u64, |n, b| n << 8 | u64::from(*b));
        let value = match b.format {
            DataFormat::Float16 => f16::from_bits(bits as u16).to_f64(),
            DataFormat::Float32 | DataFormat::Depth32 => f64::from(f32::from_bits(bits as u32)),
            DataFormat::Float64 => f64::from_bits(bits),
            _ => bits as f64 / ((1u128 << (size * 8)) - 1) as f64,
        };
        Some((value.clamp(0.0, 1.0) * 65535.0).round() as u16)
    };
    let mut pixels = Vec::with_capacity(b.output.width as usize * b.output.height as usize * 4);
    for pixel in 0..b.output.width as usize * b.output.height as usize {
        for c in 0..4 {
            pixels.push(if c < channels {
                component(pixel * channels + c)?
            } else if c == 3 {
                u16::MAX
            } else {
                0
            });
        }
    }
    Picture::from_raw(b.output.width, b.output.height, pixels)
}

/// Reads a PNG.
pub fn load(path: &Path) -> Result<Picture, String> {
    image::open(path).map(|i| i.into_rgba16()).map_err(|e| format!("{}: {e}", path.display()))
}

/// Writes a PNG.
pub fn save(picture: &Picture, path: &Path) -> Result<(), String> {
    picture.save(path).map_err(|e| format!("{}: {e}", path.display()))
}

/// Absolute differences per component, stretched so that the greatest is white; alpha is opaque.
pub fn difference(a: &Picture, b: &Picture) -> Picture {
    let (w, h) = (a.width().min(b.width()), a.height().min(b.height()));
    let delta = |x, y, c| a.get_pixel(x, y)[c].abs_diff(b.get_pixel(x, y)[c]);
    let most = (0..h).flat_map(|y| (0..w).map(move |x| (x, y))).flat_map(|(x, y)| (0..3).map(move |c| (x, y, c)));
    let most = most.map(|(x, y, c)| delta(x, y, c)).max().unwrap_or(0).max(1);
    Picture::from_fn(w, h, |x, y| {
        let stretch = |c| (u32::from(delta(x, y, c)) * 65535 / u32::from(most)) as u16;
        Rgba([stretch(0), stretch(1), stretch(2), u16::MAX])
    })
}

/// Compares two pictures. Without rules no pixel may be visibly different.
pub fn compare(actual: &Picture, expected: &Picture, rules: &[PictureRule]) -> Result<(), String> {
    if actual.dimensions() != expected.dimensions() {
        return Err(format!("sizes differ: {:?} and {:?}", actual.dimensions(), expected.dimensions()));
    }
    let (mut furthest, mut sum, mut visible_sum, mut visible) = (0.0f64, 0.0, 0.0, 0u64);
    let mut histogram = [0u64; 10];
    for (a, e) in actual.pixels().zip(expected.pixels()) {
        let d = distance(lab(*a), lab(*e));
        if d > VISIBLE {
            visible += 1;
            visible_sum += d;
            histogram[(d - VISIBLE).clamp(0.0, 9.0) as usize] += 1;
        }
        furthest = furthest.max(d);
        sum += d;
    }
    let count = f64::from(actual.width()) * f64::from(actual.height());
    let rms = (sum / count).sqrt();
    let visible_rms = if visible == 0 { 0.0 } else { (visible_sum / visible as f64).sqrt() };
    let percent = |n: u64| n as f64 / count * 100.0;
    let bound = |what: &str, value: f64, bound: f64| {
        if value > bound { Err(format!("{what} is {value}, above {bound}")) } else { Ok(()) }
    };
    let default = [PictureRule::Furthest { bound: VISIBLE }];
    for rule in if rules.is_empty() { &default[..] } else { rules } {
        match rule {
            PictureRule::Furthest { bound: b } => bound("the greatest color distance", furthest, *b)?,
            PictureRule::Rms { bound: b } => bound("the RMS of the distances", rms, *b)?,
            PictureRule::DiffRms { bound: b } => bound("the RMS of the visible distances", visible_rms, *b)?,
            PictureRule::PixelPercent { bound: b } => {
                bound("the percentage of visibly different pixels", percent(visible), *b)?;
            }
            PictureRule::Intervals { bounds } => {
                for (i, n) in histogram.iter().enumerate() {
                    let b = bounds.get(i).copied().unwrap_or(0.0);
                    bound(&format!("the percentage of pixels in interval {i}"), percent(*n), b)?;
                }
            }
        }
    }
    Ok(())
}

type Lab = [f64; 3];

/// L*a*b* of linear RGB with the sRGB primaries and the D65 white point.
fn lab(p: Rgba<u16>) -> Lab {
    const TO_XYZ: [[f64; 3]; 3] = [
        [0.412_456_4, 0.357_576_1, 0.180_437_5],
        [0.212_672_9, 0.715_152_2, 0.072_175_0],
        [0.019_333_9, 0.119_192_0, 0.950_304_1],
    ];
    const WHITE: [f64; 3] = [0.950_47, 1.0, 1.088_83];
    // CIE 15:2004, section 8.2.1.
    let f = |t: f64| {
        if t > 216.0 / 24389.0 { t.cbrt() } else { (24389.0 / 27.0 * t + 16.0) / 116.0 }
    };
    let rgb = [0, 1, 2].map(|i| f64::from(p[i]) / 65535.0);
    let [x, y, z] = [0, 1, 2].map(|i| f((0..3).map(|j| TO_XYZ[i][j] * rgb[j]).sum::<f64>() / WHITE[i]));
    [116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)]
}

fn distance(a: Lab, b: Lab) -> f64 {
    a.iter().zip(b).map(|(p, q)| (p - q) * (p - q)).sum::<f64>().sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::pipeline::OutputProps;

    #[test]
    fn lab_of_known_colors() {
        let white = lab(Rgba([65535, 65535, 65535, 0]));
        assert!((white[0] - 100.0).abs() < 0.01 && white[1].abs() < 0.02 && white[2].abs() < 0.02, "{white:?}");
        // sRGB red: L* 53.24, a* 80.09, b* 67.20.
        let red = lab(Rgba([65535, 0, 0, 0]));
        assert!(distance(red, [53.24, 80.09, 67.20]) < 0.05, "{red:?}");
    }

    #[test]
    fn rules() {
        let gray = |v| Picture::from_pixel(10, 10, Rgba([v, v, v, 65535]));
        let mut one = gray(30000);
        assert_eq!(compare(&one, &gray(30000), &[]), Ok(()));
        one.put_pixel(3, 3, Rgba([65535, 0, 0, 65535]));
        assert!(compare(&one, &gray(30000), &[]).is_err());
        let rules = |text| parse_rules(text).unwrap();
        assert_eq!(compare(&one, &gray(30000), &rules("- { Type: PixelPercent, Val: 1 }")), Ok(()));
        assert!(compare(&one, &gray(30000), &rules("- { Type: PixelPercent, Val: 0.9 }")).is_err());
        assert!(compare(&one, &gray(30000), &rules("- { Type: Intervals, Vals: [5, 5] }")).is_err());
        assert!(parse_rules("- { Type: Nonsense, Val: 1 }").is_err());
        let d = difference(&one, &gray(30000));
        assert_eq!(d.get_pixel(3, 3)[0], 65535);
        assert_eq!(d.get_pixel(0, 0)[0], 0);
    }

    #[test]
    fn buffers_become_pictures() {
        let b = Buffer {
            name: "B".into(),
            format: DataFormat::Float32,
            channels: 2,
            stride: 0,
            data: vec![[0.5f32, 2.0, -1.0, 1.0].iter().flat_map(|f| f.to_le_bytes()).collect()],
            counters: vec![],
            output: OutputProps { width: 2, height: 1, depth: 1, mip_levels: 1 },
        };
        let p = from_buffer(&b).unwrap();
        assert_eq!(p.get_pixel(0, 0).0, [32768, 65535, 0, 65535]);
        assert_eq!(p.get_pixel(1, 0).0, [0, 65535, 0, 65535]);
    }
}
