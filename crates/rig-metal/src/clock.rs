//! The host's clock.

/// Nanoseconds of the clock in which the driver gives times: `CLOCK_UPTIME_RAW` on Apple systems, the clock of Metal's
/// `GPUStartTime`, and the monotonic clock elsewhere.
#[cfg(unix)]
#[allow(unsafe_code)] // faces C: clock_gettime
pub(crate) fn now() -> u64 {
    #[cfg(target_vendor = "apple")]
    const CLOCK: libc::clockid_t = libc::CLOCK_UPTIME_RAW;
    #[cfg(not(target_vendor = "apple"))]
    const CLOCK: libc::clockid_t = libc::CLOCK_MONOTONIC;
    let mut t = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `t` is a valid place for the result. The call fails only for a clock the system lacks; these it has.
    unsafe { libc::clock_gettime(CLOCK, &mut t) };
    t.tv_sec as u64 * 1_000_000_000 + t.tv_nsec as u64
}

/// Nanoseconds since the first call.
#[cfg(not(unix))]
pub(crate) fn now() -> u64 {
    static START: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    START.get_or_init(std::time::Instant::now).elapsed().as_nanos() as u64
}
