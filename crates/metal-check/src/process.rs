//! Child processes with input, captured output and a time limit.
use std::io::{Read, Write};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// What a child left behind.
pub(crate) struct Finished {
    pub status: ExitStatus,
    pub stdout: Vec<u8>,
    pub stderr: String,
}

/// Why there is no [`Finished`].
#[derive(Debug)]
pub(crate) enum Failure {
    /// The program could not be started.
    Start(std::io::Error),
    /// It ran past the limit and was killed.
    Timeout,
}

/// Runs `command` with `input` on its standard input.
pub(crate) fn run(command: &mut Command, input: &[u8], limit: Duration) -> Result<Finished, Failure> {
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().map_err(Failure::Start)?;
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    std::thread::scope(|scope| {
        scope.spawn(move || {
            if let Some(mut pipe) = stdin {
                // A child that stops reading has its reasons; its status tells them.
                let _ = pipe.write_all(input);
            }
        });
        let read = |pipe: Option<Box<dyn Read + Send>>| {
            let mut bytes = Vec::new();
            if let Some(mut pipe) = pipe {
                let _ = pipe.read_to_end(&mut bytes);
            }
            bytes
        };
        let out = scope.spawn(move || read(stdout.map(|p| Box::new(p) as _)));
        let err = scope.spawn(move || read(stderr.map(|p| Box::new(p) as _)));
        let deadline = Instant::now() + limit;
        let mut pause = Duration::from_micros(500);
        let status = loop {
            match child.try_wait() {
                Ok(Some(status)) => break Some(status),
                Ok(None) if Instant::now() < deadline => {
                    std::thread::sleep(pause);
                    pause = (pause * 2).min(Duration::from_millis(10));
                }
                _ => {
                    let _ = child.kill();
                    let _ = child.wait();
                    break None;
                }
            }
        };
        let stdout = out.join().unwrap_or_default();
        let stderr = String::from_utf8_lossy(&err.join().unwrap_or_default()).into_owned();
        status.map(|status| Finished { status, stdout, stderr }).ok_or(Failure::Timeout)
    })
}
