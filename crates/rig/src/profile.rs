//! What a device spent its time on.

use crate::{Device, Error};
use rig_edge::Span;
use rig_edge::sync::atomic::{AtomicBool, Ordering};
use rig_edge::sync::{self, Mutex};
use std::fmt::Write as _;
use std::io;

/// A recording in progress. Dropping it ends it.
#[derive(Debug)]
pub struct Profile {
    device: Device,
}

/// One submit, on the host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubmitSpan {
    /// The value its work completes.
    pub value: u64,
    /// The submission's label.
    pub label: String,
    /// When the call began, in nanoseconds of the host's clock.
    pub start: u64,
    /// When it returned.
    pub end: u64,
}

/// What was recorded. Times are nanoseconds of one clock, the host's.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    /// Submits, in order.
    pub submits: Vec<SubmitSpan>,
    /// Command buffers that ran, in order; each may hold the work of several submits.
    pub spans: Vec<Span>,
}

#[derive(Default)]
pub(crate) struct Recorder {
    on: AtomicBool,
    submits: Mutex<Vec<SubmitSpan>>,
}

/// The most submits recorded; later ones are not.
const MAX_SUBMITS: usize = 1 << 20;

impl Recorder {
    pub fn on(&self) -> bool {
        self.on.load(Ordering::Relaxed)
    }

    pub fn submitted(&self, value: u64, label: &str, start: u64, end: u64) {
        let mut submits = sync::lock(&self.submits);
        if submits.len() < MAX_SUBMITS {
            submits.push(SubmitSpan { value, label: label.to_owned(), start, end });
        }
    }
}

impl Profile {
    /// Begins to record; an error if a recording of the device is in progress.
    pub fn start(device: &Device) -> Result<Self, Error> {
        let inner = device.inner();
        inner.check_here()?;
        if inner.recorder.on.swap(true, Ordering::Relaxed) {
            return Err(Error::Invalid("a device that is being profiled"));
        }
        inner.driver.spans(&mut |_| ());
        inner.driver.profile(true);
        Ok(Self { device: device.clone() })
    }

    /// Ends the recording. Work that is not done leaves no span.
    pub fn finish(self) -> Trace {
        let inner = self.device.inner();
        let mut spans = Vec::new();
        inner.driver.spans(&mut |span| spans.push(span));
        let mut submits = std::mem::take(&mut *sync::lock(&inner.recorder.submits));
        submits.sort_by_key(|s| s.value);
        Trace { submits, spans }
    }
}

impl Drop for Profile {
    fn drop(&mut self) {
        let inner = self.device.inner();
        if inner.check_here().is_ok() {
            inner.driver.profile(false);
            sync::lock(&inner.recorder.submits).clear();
            inner.recorder.on.store(false, Ordering::Relaxed);
        }
    }
}

impl Trace {
    /// Writes the trace in Chrome's trace event format (JSON), which `chrome://tracing` and Perfetto open: one row for
    /// submits on the host, one for the device.
    pub fn write_chrome(&self, out: &mut impl io::Write) -> io::Result<()> {
        let mut text = String::from(concat!(
            "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n",
            "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":1,\"tid\":1,\"args\":{\"name\":\"submit\"}},\n",
            "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":1,\"tid\":2,\"args\":{\"name\":\"device\"}}"
        ));
        for s in &self.submits {
            let name = if s.label.is_empty() { "submit" } else { &s.label };
            event(&mut text, name, 1, s.start, s.end, &[("value", s.value)]);
        }
        for s in &self.spans {
            event(&mut text, "command buffer", 2, s.start, s.end, &[("first", s.first), ("last", s.last)]);
        }
        text.push_str("\n]}\n");
        out.write_all(text.as_bytes())
    }
}

/// One complete event. Chrome counts in microseconds; the fraction keeps the nanoseconds.
fn event(text: &mut String, name: &str, tid: u32, start: u64, end: u64, args: &[(&str, u64)]) {
    let micros = |ns: u64| format!("{}.{:03}", ns / 1000, ns % 1000);
    text.push_str(",\n{\"ph\":\"X\",\"name\":\"");
    escape(text, name);
    let (ts, dur) = (micros(start), micros(end.saturating_sub(start)));
    // Writing to a string does not fail.
    let _ = write!(text, "\",\"pid\":1,\"tid\":{tid},\"ts\":{ts},\"dur\":{dur},\"args\":{{");
    for (i, (key, value)) in args.iter().enumerate() {
        let comma = if i == 0 { "" } else { "," };
        let _ = write!(text, "{comma}\"{key}\":{value}");
    }
    text.push_str("}}");
}

/// Appends `s` as the inside of a JSON string (RFC 8259, section 7).
fn escape(text: &mut String, s: &str) {
    for c in s.chars() {
        match c {
            '"' => text.push_str("\\\""),
            '\\' => text.push_str("\\\\"),
            c if (c as u32) < 0x20 => {
                let _ = write!(text, "\\u{:04x}", c as u32);
            }
            c => text.push(c),
        }
    }
}
