//! The calls on a real kernel, interrupted, refused and short of room.

use super::*;
use std::time::{Duration, Instant};

#[test]
fn a_pipe_that_has_filled_says_so() {
    let pipe = Pipe1::new().unwrap();
    while pipe.write(b'x').is_ok() {}
    let why = pipe.call(0).unwrap_err();
    assert_eq!(why.kind(), io::ErrorKind::WouldBlock);
    assert!(why.to_string().contains("the pipe is full"), "{why}");
}

#[test]
fn a_pipe_with_something_else_in_it_is_a_wrong_answer() {
    let pipe = Pipe1::new().unwrap();
    pipe.write(b'x').unwrap();
    assert!(
        pipe.call(0)
            .unwrap_err()
            .to_string()
            .contains("another byte")
    );
}

#[test]
fn what_is_interrupted_is_done_again() {
    let mut left = 3;
    let returned = again(|| {
        if left == 0 {
            return 7;
        }
        left -= 1;
        set_errno(libc::EINTR);
        -1
    });
    assert_eq!((returned.unwrap(), left), (7, 0));
    let refused = again(|| {
        set_errno(libc::EPERM);
        -1
    });
    assert!(is_refused(&refused.unwrap_err()));
}

fn set_errno(value: libc::c_int) {
    // SAFETY: the C library's own word for this thread's errno.
    unsafe { *libc::__errno_location() = value };
}

extern "C" fn nothing(_: libc::c_int) {}

#[test]
fn a_signal_does_not_shorten_the_sleep() {
    // SAFETY: the handler does nothing; this signal has no other use here.
    unsafe { libc::signal(libc::SIGUSR1, nothing as *const () as usize) };
    // SAFETY: names the calling thread.
    let sleeper = unsafe { libc::pthread_self() } as usize;
    let began = Instant::now();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            for _ in 0..20 {
                // SAFETY: the sleeper outlives this scope.
                unsafe { libc::pthread_kill(sleeper as libc::pthread_t, libc::SIGUSR1) };
                std::thread::sleep(Duration::from_micros(50));
            }
        });
        assert_eq!(Sleep1ms.call(4).unwrap(), 5);
        assert!(began.elapsed() >= Duration::from_millis(1));
    });
}

/// A filter as containers have them: one system call is answered by `errno`.
fn refuse(call: libc::c_long, errno: libc::c_int) -> io::Result<()> {
    let step = |code: u32, jt, jf, k| libc::sock_filter {
        code: code as u16,
        jt,
        jf,
        k,
    };
    let mut program = [
        step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0), // the call's number
        step(
            libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K,
            0,
            1,
            call as u32,
        ),
        step(
            libc::BPF_RET | libc::BPF_K,
            0,
            0,
            libc::SECCOMP_RET_ERRNO | errno as u32,
        ),
        step(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ALLOW),
    ];
    let filter = libc::sock_fprog {
        len: program.len() as u16,
        filter: program.as_mut_ptr(),
    };
    // SAFETY: takes numbers only.
    check(unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) })?;
    // SAFETY: the kernel copies the filter, which lives for the whole call.
    check(unsafe { libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &filter) })
        .map(drop)
}

#[test]
fn a_call_that_a_container_refuses_is_a_refusal_and_others_go_on() {
    for errno in [libc::EPERM, libc::ENOSYS] {
        let act = move || {
            if refuse(libc::SYS_getppid, errno).is_err() {
                return 77; // no filter can be set here
            }
            let refused = Getppid::new().is_err_and(|why| is_refused(&why));
            let others = Futex::new().and_then(|futex| futex.call(0)).is_ok();
            u8::from(!(refused && others))
        };
        // SAFETY: it makes system calls on its own stack, and takes no lock.
        let ended = unsafe { crate::process::in_fork(act) }.unwrap();
        assert!(matches!(ended.code(), Some(0 | 77)), "{ended:?}");
    }
}

#[test]
fn refusals_and_shortages_are_told_apart() {
    let of = io::Error::from_raw_os_error;
    assert!(is_refused(&of(libc::ENOSYS)) && !is_refused(&of(libc::EMFILE)));
    assert!(descriptors_are_short(&of(libc::EMFILE)) && !descriptors_are_short(&of(libc::EIO)));
}
