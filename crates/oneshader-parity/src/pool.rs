//! Work in child processes: a driver or compiler that crashes or hangs takes one job with it, not the run.
//!
//! A child runs this program's hidden `worker` command. It reads one line of JSON that sets it up, then one line per
//! job, and answers each with one line. A child that dies is replaced; one that takes too long is killed.

use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// How a job ended.
#[derive(Clone, Debug)]
pub enum Ended<R> {
    /// With an answer.
    Done(R),
    /// The child died; what it last wrote to its error output.
    Crashed(String),
    /// It took longer than the limit.
    TimedOut,
}

/// Bytes of a child's error output to keep.
const STDERR_TAIL: usize = 4096;

struct Worker {
    child: Child,
    stdin: ChildStdin,
    lines: Receiver<String>,
    stderr: Arc<Mutex<VecDeque<u8>>>,
}

impl Worker {
    fn start(setup: &str) -> Result<Self, String> {
        let exe = std::env::current_exe().map_err(|e| e.to_string())?;
        let mut child = Command::new(exe)
            .arg("worker")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|e| format!("cannot start a worker: {e}"))?;
        let (Some(mut stdin), Some(out), Some(mut err)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err("a worker has no pipes".to_owned());
        };
        writeln!(stdin, "{setup}").map_err(|e| format!("cannot set up a worker: {e}"))?;
        let (send, lines) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(out).lines().map_while(Result::ok) {
                if send.send(line).is_err() {
                    break;
                }
            }
        });
        let stderr = Arc::new(Mutex::new(VecDeque::new()));
        let tail = Arc::clone(&stderr);
        std::thread::spawn(move || {
            let mut chunk = [0u8; 1024];
            while let Ok(n) = err.read(&mut chunk) {
                if n == 0 {
                    break;
                }
                let Ok(mut t) = tail.lock() else { break };
                t.extend(&chunk[..n]);
                while t.len() > STDERR_TAIL {
                    t.pop_front();
                }
            }
        });
        Ok(Self { child, stdin, lines, stderr })
    }

    /// Kills the child and says how it ended.
    fn end(mut self) -> String {
        // Gives a dying child a moment to be gone by itself, so that its own status is seen.
        for _ in 0..20 {
            if matches!(self.child.try_wait(), Ok(Some(_))) {
                break;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        let _ = self.child.kill();
        let status = self.child.wait().map_or_else(|e| e.to_string(), |s| s.to_string());
        let tail: Vec<u8> = self.stderr.lock().map(|t| t.iter().copied().collect()).unwrap_or_default();
        format!("{status}\n{}", String::from_utf8_lossy(&tail).trim())
    }
}

/// Runs jobs on `count` children; `done` is called with each job's index as it ends, in no order.
pub fn run<J: Serialize + Sync, R: DeserializeOwned + Send>(
    setup: &impl Serialize,
    jobs: &[J],
    count: usize,
    limit: Duration,
    done: impl Fn(usize, Ended<R>, Duration) + Sync,
) -> Result<(), String> {
    let setup = serde_json::to_string(setup).map_err(|e| e.to_string())?;
    let next = Mutex::new(0..jobs.len());
    let failure = Mutex::new(None);
    std::thread::scope(|scope| {
        for _ in 0..count.max(1).min(jobs.len().max(1)) {
            scope.spawn(|| {
                let mut worker: Option<Worker> = None;
                // The lock is held for the taking only.
                let take = || next.lock().ok().and_then(|mut n| n.next());
                while let Some(i) = take() {
                    let started = Instant::now();
                    match one(&mut worker, &setup, &jobs[i], limit) {
                        Ok(ended) => done(i, ended, started.elapsed()),
                        Err(e) => {
                            if let Ok(mut f) = failure.lock() {
                                f.get_or_insert(e);
                            }
                            break;
                        }
                    }
                }
                if let Some(Worker { mut child, stdin, .. }) = worker {
                    // The end of its input ends the child; nothing is left to wait for but its exit.
                    drop(stdin);
                    let _ = child.wait();
                }
            });
        }
    });
    failure.into_inner().map_err(|e| e.to_string())?.map_or(Ok(()), Err)
}

fn one<J: Serialize, R: DeserializeOwned>(
    worker: &mut Option<Worker>,
    setup: &str,
    job: &J,
    limit: Duration,
) -> Result<Ended<R>, String> {
    let mut w = match worker.take() {
        Some(w) => w,
        None => Worker::start(setup)?,
    };
    let line = serde_json::to_string(job).map_err(|e| e.to_string())?;
    if writeln!(w.stdin, "{line}").and_then(|()| w.stdin.flush()).is_err() {
        return Ok(Ended::Crashed(w.end()));
    }
    match w.lines.recv_timeout(limit) {
        Ok(answer) => match serde_json::from_str(&answer) {
            Ok(r) => {
                *worker = Some(w);
                Ok(Ended::Done(r))
            }
            Err(e) => Ok(Ended::Crashed(format!("an unreadable answer: {e}: {answer}\n{}", w.end()))),
        },
        Err(RecvTimeoutError::Timeout) => {
            let _ = w.child.kill();
            w.end();
            Ok(Ended::TimedOut)
        }
        Err(RecvTimeoutError::Disconnected) => Ok(Ended::Crashed(w.end())),
    }
}

/// The child's side: sets up with the first line, then answers one line per job until the input ends.
pub fn serve<S: DeserializeOwned, J: DeserializeOwned, R: Serialize, W>(
    setup: impl FnOnce(S) -> Result<W, String>,
    mut work: impl FnMut(&mut W, J) -> R,
) -> Result<(), String> {
    let stdin = std::io::stdin();
    let mut lines = stdin.lock().lines();
    let mut next = || lines.next().transpose().map_err(|e| e.to_string());
    let Some(first) = next()? else { return Ok(()) };
    let mut state = setup(serde_json::from_str(&first).map_err(|e| e.to_string())?)?;
    while let Some(line) = next()? {
        let job = serde_json::from_str(&line).map_err(|e| e.to_string())?;
        let answer = serde_json::to_string(&work(&mut state, job)).map_err(|e| e.to_string())?;
        let mut out = std::io::stdout().lock();
        writeln!(out, "{answer}").and_then(|()| out.flush()).map_err(|e| e.to_string())?;
    }
    Ok(())
}
