//! Threads that submit, wait, make and drop indirect command buffers, lose and close devices, all at once: what
//! ThreadSanitizer is given to watch (docs/unsafe.md). It uses joined threads and no scopes, whose orders are inside the
//! standard library.
#![cfg(not(feature = "model"))]

use rig::{Buffer, Cause, Code, Device, Hold, Image, Submission};
use rig_metal::Failure;
use rig_metal::soft::{self, Launch, Soft, SoftImage, Table};
use rig_metal_abi::{Dispatch, KEY};
use std::any::Any;
use std::sync::Arc;
use std::thread;

fn add(l: &Launch<'_>) -> Result<(), String> {
    let at = l.buffer(0)?.address;
    l.store_u32(at, l.load_u32(at)?.wrapping_add(1))
}

/// One thread's part: whether all of its work was done.
fn work(device: &Device, image: &Image, turns: usize) -> Result<u32, rig::Error> {
    let entry = image.entry("add")?;
    let buffer = Buffer::new(device, 64)?;
    let record = device.capability(&KEY).expect("a record");
    for turn in 0..turns {
        let one = Dispatch { pipeline: entry.handle(), offset: 0, groups: [1; 3], threads: [1; 3] };
        let icb = match record.icb(buffer.handle(), &[one, one]) {
            Ok(icb) => Arc::new(icb),
            Err(_) => break,
        };
        let run = Arc::clone(&icb);
        let fill = rig_metal::fill::<Soft, _>(move |e| {
            e.execute(&run)?;
            e.split()?;
            e.execute(&run)
        });
        let s = Submission::new(device).fill(fill).writes(&buffer).keep((icb, entry.clone())).build()?;
        let hold = Hold::new(device, vec![turn]);
        let point = s.submit()?;
        drop(hold);
        drop(s);
        if turn % 3 == 0 {
            point.wait()?;
        }
    }
    let mut word = [0; 4];
    buffer.read(0, &mut word)?;
    Ok(u32::from_ne_bytes(word))
}

fn rounds(count: usize, end: impl Fn(&Device, &soft::Handle), check: impl Fn(Result<u32, rig::Error>)) {
    for _ in 0..count {
        let (metal, handle) = soft::open(soft::Options { capacity: 3, ..soft::Options::default() });
        let device = Device::open(Box::new(metal));
        let kernels: Arc<dyn Any + Send + Sync> = Arc::new(SoftImage::new(Table::default().with("add", add)));
        let image = Image::load(&device, &Code::Host(&kernels)).unwrap();
        handle.faults().reverse_handlers(2);
        let threads: Vec<_> = (0..3)
            .map(|_| {
                let (device, image) = (device.clone(), image.clone());
                thread::spawn(move || work(&device, &image, 20))
            })
            .collect();
        end(&device, &handle);
        for t in threads {
            check(t.join().unwrap());
        }
    }
}

#[test]
fn all_work_is_done() {
    rounds(10, |_, _| (), |got| assert_eq!(got, Ok(80)));
}

#[test]
fn a_loss_or_a_close_in_the_middle_is_an_error_and_nothing_else() {
    let lost =
        |got: Result<u32, rig::Error>| assert!(got.is_ok() || matches!(got, Err(rig::Error::Lost(_))), "{got:?}");
    rounds(20, |_, soft| soft.faults().fail_after(5, Failure::new(Cause::Other, "failed")), lost);
    rounds(20, |device, _| device.close().unwrap(), lost);
}
