//! The machine's time zone has no say: the same answers whatever TZ is, and without any zone files.

use std::process::Command;

use window::{
    Config,
    window::{Kind, Window},
};

const MARK: &str = "start at";

/// Run by itself in other environments, by the test below.
#[test]
fn answers() {
    for zone in ["America/New_York", "UTC", "Africa/Cairo"] {
        let json = format!(r#"{{"rrule": "FREQ=DAILY;BYHOUR=2", "durationMinutes": 60, "timezone": "{zone}"}}"#);
        let config: Config = serde_json::from_str(&json).expect("parses");
        let window = Window::new(&config, 0).expect("right");
        let Kind::Recurring(schedule) = window.kind else { panic!("not recurring") };
        let mut at = 1_767_225_600;
        for _ in 0..400 {
            let start = schedule.next(at).expect("every day");
            println!("{MARK} {}", start.at);
            at = start.at + 1;
        }
    }
}

#[test]
fn are_the_same_everywhere() {
    let run = |zone: &str| {
        let program = std::env::current_exe().expect("a test is a program");
        let mut command = Command::new(program);
        command.args(["environment::answers", "--exact", "--nocapture"]);
        command.env("TZ", zone).env("TZDIR", "/nonexistent");
        let output = command.output().expect("it runs again");
        assert!(output.status.success(), "{output:?}");
        let text = String::from_utf8(output.stdout).expect("text");
        text.lines().filter(|line| line.contains(MARK)).map(ToOwned::to_owned).collect::<Vec<_>>()
    };
    let here = run("UTC");
    assert_eq!(here.len(), 1200);
    for zone in ["America/New_York", "Pacific/Apia", "nonsense"] {
        assert_eq!(run(zone), here, "TZ={zone}");
    }
}
