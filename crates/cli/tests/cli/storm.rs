//! Signals at random times while a folder of 200 pictures is run, 20 of them bad, and while video streams: what is there is
//! whole, what is not is counted, and nothing else is left. All times follow from a seed, which failures name.

use std::process::{Child, ExitStatus};
use std::time::{Duration, Instant};

use crate::folder::{BAD, Folder, GOOD, arguments, errors};
use crate::signals::{send, wait_until};
use crate::support::Place;

const SIGNALS: [(&str, i32); 3] = [("INT", 2), ("HUP", 1), ("TERM", 15)];
const OLD: &[u8] = b"what was there before";

/// Numbers from a seed (Marsaglia's xorshift64).
struct Random(u64);

impl Random {
    fn new(seed: u64) -> Self {
        let mut random = Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
        // Seeds that are close begin close to each other.
        (0..8).for_each(|_| _ = random.below(2));
        random
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }
}

/// How a run ended.
struct Ended {
    status: ExitStatus,
    stdout: String,
    stderr: String,
}

fn ended(child: Child) -> Ended {
    let output = child.wait_with_output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Ended { status: output.status, stdout: text(output.stdout), stderr: text(output.stderr) }
}

/// One run with one or two signals; `usual` is how long a run takes. Gives whether the signal came in time.
fn round(folder: &Folder, seed: u64, usual: Duration) -> bool {
    let mut random = Random::new(seed);
    let out = folder.place.path("out");
    let _ = std::fs::remove_dir_all(&out);
    let old = random.below(3) == 0;
    if old {
        std::fs::create_dir(&out).unwrap();
        folder.right.keys().for_each(|name| std::fs::write(out.join(name), OLD).unwrap());
    }
    let batch = ["1", "4"][random.below(2) as usize];
    let (signal, number) = SIGNALS[random.below(3) as usize];
    let mut child = folder.place.start(&arguments(&["--batch", batch]));
    if random.below(2) == 0 || old {
        std::thread::sleep(usual.mul_f64(random.below(1000) as f64 / 900.0));
    } else {
        let some = random.below(GOOD as u64) as usize;
        wait_until("some results are there", || {
            folder.place.list("out").len() >= some || child.try_wait().unwrap().is_some()
        });
    }
    send(&child, signal);
    let twice = random.below(3) == 0;
    if twice {
        std::thread::sleep(Duration::from_micros(random.below(4000)));
        send(&child, signal);
    }
    let ended = ended(child);
    let about = format!("seed {seed}, SIG{signal}{}: {}", if twice { " twice" } else { "" }, ended.stderr);
    check(folder, &ended, number, twice, old, &about)
}

fn check(folder: &Folder, ended: &Ended, number: i32, twice: bool, old: bool, about: &str) -> bool {
    let found = folder.found();
    let whole =
        |(name, bytes): (&String, &Vec<u8>)| folder.right.get(name) == Some(bytes) || old && bytes == OLD;
    for (name, bytes) in &found {
        // A second signal may come in the very moment in which a file is begun; the next run removes it.
        let begun = twice && name.starts_with(".mip-");
        assert!(whole((name, bytes)) || begun, "{name} is not whole. {about}");
    }
    assert!(!old || found.len() >= GOOD, "files are lost. {about}");
    assert!(!ended.stderr.contains("panicked"), "{about}");
    let Some(code) = ended.status.code() else {
        // Before the program had begun to listen.
        use std::os::unix::process::ExitStatusExt as _;
        assert_eq!(ended.status.signal(), Some(number), "{about}");
        assert!(ended.stdout.is_empty() && !found.values().any(|bytes| bytes != OLD), "{about}");
        return true;
    };
    assert!(code == 128 + number || code == 1, "code {code}. {about}");
    if twice && ended.stdout.is_empty() {
        return true;
    }
    let document: serde_json::Value =
        serde_json::from_str(&ended.stdout).unwrap_or_else(|e| panic!("{e}: {:?}. {about}", ended.stdout));
    if document["frames"].is_null() {
        assert_eq!((document["exit_code"].as_i64(), code), (Some(code.into()), 128 + number), "{about}");
        assert!(!found.values().any(|bytes| bytes != OLD), "{about}");
        return true;
    }
    let mut listed: Vec<&str> =
        document["outputs"].as_array().unwrap().iter().map(|name| &name.as_str().unwrap()[4..]).collect();
    listed.sort_unstable();
    let new = found.iter().filter(|(name, bytes)| *bytes != OLD && !name.starts_with(".mip-"));
    let new: Vec<&str> = new.map(|(name, _)| name.as_str()).collect();
    // After a second signal, files may get their names while the report is printed.
    assert!(listed == new || twice && listed.iter().all(|name| new.contains(name)), "{about}");
    let counts = ["frames", "failed", "not_tried"].map(|key| document[key].as_u64().unwrap() as usize);
    let failed: Vec<String> = errors(&document).collect();
    assert!(failed.iter().all(|name| folder.bad.contains(name)), "{about}");
    assert_eq!((counts[0], counts[1]), (listed.len(), failed.len()), "{about}");
    assert_eq!(counts.iter().sum::<usize>(), GOOD + BAD, "{about}");
    if code == 1 {
        assert_eq!((counts[2], &document["interrupted"]), (0, &serde_json::Value::Null), "{about}");
    }
    code != 1
}

/// A stream of many frames, from a file into one; what is written is whole frames, as many as are said.
fn stream_round(place: &Place, right: &[u8], seed: u64, usual: Duration) -> bool {
    let mut random = Random::new(seed);
    place
        .list(".")
        .iter()
        .filter(|name| *name != "in.y4m")
        .for_each(|name| std::fs::remove_file(place.path(name)).unwrap());
    let old = random.below(2) == 0;
    if old {
        std::fs::write(place.path("out.y4m"), OLD).unwrap();
    }
    let (signal, number) = SIGNALS[random.below(3) as usize];
    let child = place.start(&STREAM);
    std::thread::sleep(usual.mul_f64(random.below(1000) as f64 / 900.0));
    send(&child, signal);
    let ended = ended(child);
    let about = format!("seed {seed}, SIG{signal}: {}", ended.stderr);
    assert!(
        !ended.stderr.contains("panicked") && !place.list(".").iter().any(|n| n.starts_with(".mip-")),
        "{about}"
    );
    let [out, beside] = ["out.y4m", "out.interrupted.y4m"].map(|name| std::fs::read(place.path(name)).ok());
    if ended.status.success() {
        assert!(out.as_deref() == Some(right) && beside.is_none(), "{about}");
        return false;
    }
    let part = if old { beside } else { out.clone() };
    assert!(!old || out.as_deref() == Some(OLD), "{about}");
    let Some(code) = ended.status.code() else {
        assert!(part.is_none(), "{about}");
        return true;
    };
    assert_eq!(code, 128 + number, "{about}");
    let document: serde_json::Value =
        serde_json::from_str(&ended.stdout).unwrap_or_else(|e| panic!("{e}. {about}"));
    let frames = document["frames"].as_u64().unwrap_or(0) as usize;
    let header = right.len() - FRAMES * FRAME;
    match part {
        Some(part) => assert!(right.starts_with(&part) && part.len() == header + frames * FRAME, "{about}"),
        None => assert_eq!(frames, 0, "{about}"),
    }
    true
}

const FRAMES: usize = 1500;
const FRAME: usize = 6 + 40 * 30;
const STREAM: [&str; 9] =
    ["stream", "-e", "gaussian_blur kernel=3", "-i", "in.y4m", "-o", "out.y4m", "--json", "--device=cpu"];

fn stream_storm(seeds: std::ops::Range<u64>) {
    let place = Place::new();
    let frame = |number: usize| [&b"FRAME\n"[..], &[number as u8; FRAME - 6]].concat();
    let head = b"YUV4MPEG2 W40 H30 F25:1 Ip A1:1 Cmono XCOLORRANGE=FULL\n".to_vec();
    std::fs::write(place.path("in.y4m"), [head, (0..FRAMES).flat_map(frame).collect()].concat()).unwrap();
    let start = Instant::now();
    place.ok(&STREAM);
    let (usual, right) = (start.elapsed(), place.bytes("out.y4m"));
    let rounds = seeds.end - seeds.start;
    let in_time = seeds.filter(|&seed| stream_round(&place, &right, seed, usual)).count() as u64;
    assert!(in_time * 2 > rounds, "{in_time} of {rounds} signals came in time");
}

fn storm(seeds: std::ops::Range<u64>) {
    let folder = Folder::new();
    let inputs = folder.inputs();
    let start = Instant::now();
    folder.check_whole(&folder.place.mip(&arguments(&["--batch", "4"])));
    let usual = start.elapsed();
    assert!(folder.found() == folder.right, "batches change nothing");
    let rounds = seeds.end - seeds.start;
    let in_time = seeds.filter(|&seed| round(&folder, seed, usual)).count() as u64;
    assert!(in_time * 2 > rounds, "{in_time} of {rounds} signals came in time");
    // Whatever was left by the last, goes.
    folder.check_whole(&folder.place.mip(&arguments(&[])));
    assert!(folder.found() == folder.right && folder.inputs() == inputs);
}

#[test]
fn signals_at_random_times_cost_nothing_that_is_whole() {
    storm(1..13);
}

#[test]
fn signals_at_random_times_leave_whole_frames() {
    stream_storm(1..13);
}

#[test]
#[ignore = "minutes, other signals each time (MIP_STORM_SEED, MIP_STORM_ROUNDS): cargo test -p mip-cli --test cli storm -- --ignored"]
fn many_signals_at_random_times() {
    let number = |name: &str| std::env::var(name).ok().map(|text| text.parse::<u64>().unwrap());
    let now = || std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
    let first = number("MIP_STORM_SEED").unwrap_or_else(|| now() << 16);
    let seeds = first..first + number("MIP_STORM_ROUNDS").unwrap_or(500);
    storm(seeds.clone());
    stream_storm(seeds);
}
