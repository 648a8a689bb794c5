use crate::support::Place;

const FORK: &str = "gray:color_convert to=gray ! soft:gaussian_blur inputs=gray ! edges:sobel inputs=gray \
                    ! blend inputs=soft,edges";

/// The keys that other programs rely on.
const KEYS: [&str; 15] = [
    "workload",
    "mode",
    "batch",
    "median_us",
    "p50_us",
    "p99_us",
    "launches",
    "waits",
    "bytes",
    "gb_per_s",
    "copy_gb_per_s",
    "copy_fraction",
    "first_run_ms",
    "driver_allocations",
    "peak_device_bytes",
];

#[test]
fn bench_measures_all_modes_and_prints_every_key() {
    let place = Place::new();
    let tiny = ["bench", "-e", FORK, "--size", "64x48", "--device", "cpu", "--batch", "1,2", "--runs", "3"];
    let json = place.ok(&[&tiny[..], &["--json", "--html", "bench.html"]].concat());
    let document = json.json();
    for key in ["device", "driver", "version", "commit", "date", "timed", "results"] {
        assert!(document.get(key).is_some(), "{key}: {document}");
    }
    let results = document["results"].as_array().unwrap();
    assert_eq!(results.len(), 8, "four modes at two batches");
    for row in results {
        for key in KEYS {
            assert!(row.get(key).is_some(), "{key}: {row}");
        }
        let (replay, fused) = (&row["mode"]["replay"], &row["mode"]["fused"]);
        let (replay, fused) = (replay.as_bool().unwrap(), fused.as_bool().unwrap());
        assert_eq!(row["workload"], "pipeline");
        assert_eq!(row["launches"], if fused { 1.0 } else { 4.0 }, "{row}");
        assert_eq!(row["graph_launches"], f64::from(u8::from(replay)), "{row}");
        assert_eq!(row["runs"], 3);
        assert_eq!(row["driver_allocations"], 0, "the steady state allocates nothing: {row}");
        let batch = row["batch"].as_u64().unwrap();
        assert_eq!(row["bytes"], batch * 64 * 48 * (3 + 1), "inputs once and outputs once");
        let number = |key: &str| row[key].as_f64().unwrap();
        assert!(number("p50_us") > 0.0 && number("p50_us") <= number("p99_us"), "{row}");
        assert!(number("copy_gb_per_s") > 0.0 && number("first_run_ms") > 0.0, "{row}");
        let fraction = number("gb_per_s") / number("copy_gb_per_s");
        assert!((number("copy_fraction") / fraction - 1.0).abs() < 1e-9, "{row}");
    }
    place.write("old.json", &json.stdout);
    let table = place.ok(&[&tiny[..], &["--compare", "old.json"]].concat()).stdout;
    for text in ["direct, unfused", "replay, fused", "of copy", "change of us/frame"] {
        assert!(table.contains(text), "{text}: {table}");
    }
    let compared = place.ok(&[&tiny[..], &["--json", "--compare", "old.json"]].concat()).json();
    assert_eq!(compared["comparison"]["changes"].as_array().unwrap().len(), 8);
    let page = String::from_utf8(place.bytes("bench.html")).unwrap();
    for text in ["<svg", "replay, fused", "</html>"] {
        assert!(page.contains(text), "{text}");
    }
    for text in ["src=", "href=", "@import", "url("] {
        assert!(!page.contains(text), "the page needs nothing beside itself, but has {text}");
    }
}

#[test]
fn bench_refuses_what_makes_no_sense_before_measuring() {
    let place = Place::new();
    place.refused(&["bench", "-e", "sobel"], &["--size"]);
    place.refused(&["bench", "--size", "64x48"], &["--size goes with a pipeline"]);
    place.refused(&["bench", "--suite", "edgs"], &["did you mean 'edges'"]);
    place.refused(&["bench", "--filter", "w9"], &["w5-sobel"]);
    place.refused(&["bench", "--time", "0"], &["seconds"]);
    place.refused(&["bench", "--compare", "missing.json"], &["missing.json"]);
    place.write("other.json", "{}");
    place.refused(&["bench", "--compare", "other.json"], &["not what `mip bench --json` prints"]);
    place.refused(&["bench", "-e", "crop width=20 height=20", "--size", "10x10"], &["crop"]);
}
