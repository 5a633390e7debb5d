//! `bombus info` for CSP scripts: what a script consists of, as text or as JSON.

use super::args::Info;
use super::run::{rejected_by_info, say};
use super::status;
use crate::driver;

pub fn info(args: &Info) -> u8 {
    match driver::describe_csp(&args.model) {
        Ok(lines) if args.json => {
            let mut all = serde_json::json!({"model": {"file": args.model}, "language": "CSP-M"});
            for (kind, text) in lines {
                match &mut all[kind] {
                    serde_json::Value::Array(list) => list.push(text.into()),
                    first => *first = serde_json::json!([text]),
                }
            }
            say(&all.to_string());
            status::OK
        }
        Ok(lines) => {
            let lines: Vec<String> = lines.iter().map(|(kind, text)| format!("{kind:<12}{text}")).collect();
            say(&lines.join("\n"));
            status::OK
        }
        Err(r) => rejected_by_info(args, &r),
    }
}
