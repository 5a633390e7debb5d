//! Numbers for people: seconds, bytes and counts with the precision that means something.

pub use crate::base::text::grouped as count;

/// Seconds with three significant digits, minutes and hours when they are long.
pub fn seconds(s: f64) -> String {
    if !s.is_finite() {
        return "–".into();
    }
    if s < 0.0995 {
        format!("{:.0} ms", s * 1e3)
    } else if s < 9.995 {
        format!("{s:.2} s")
    } else if s < 99.95 {
        format!("{s:.1} s")
    } else if s < 3600.0 {
        format!("{}:{:02} min", s as u64 / 60, s as u64 % 60)
    } else {
        format!("{}:{:02} h", s as u64 / 3600, s as u64 % 3600 / 60)
    }
}

pub fn bytes(n: u64) -> String {
    const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    let mut value = n as f64;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    if unit == 0 || value >= 99.95 {
        format!("{value:.0} {}", UNITS[unit])
    } else {
        format!("{value:.1} {}", UNITS[unit])
    }
}

/// A rate with an SI prefix: 1.25 M, 830 k.
pub fn rate(x: f64) -> String {
    if !x.is_finite() || x <= 0.0 {
        return "–".into();
    }
    let (value, prefix) = match x {
        x if x >= 1e9 => (x / 1e9, "G"),
        x if x >= 1e6 => (x / 1e6, "M"),
        x if x >= 1e3 => (x / 1e3, "k"),
        x => (x, ""),
    };
    let text = if value >= 99.95 {
        format!("{value:.0}")
    } else if value >= 9.995 {
        format!("{value:.1}")
    } else {
        format!("{value:.2}")
    };
    if prefix.is_empty() { text } else { format!("{text} {prefix}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_three_digits() {
        assert_eq!(seconds(0.012), "12 ms");
        assert_eq!(seconds(1.234), "1.23 s");
        assert_eq!(seconds(75.0), "75.0 s");
        assert_eq!(seconds(150.0), "2:30 min");
        assert_eq!(seconds(7260.0), "2:01 h");
        assert_eq!(rate(1_234_567.0), "1.23 M");
        assert_eq!(bytes(1536), "1.5 KiB");
    }
}
