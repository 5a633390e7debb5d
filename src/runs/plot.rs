//! Plots as plain SVG: axes with units, series with markers and ranges, a legend beside the plot.
//!
//! In: numbers. Out: one `<svg>` element that needs nothing else: no script, no style sheet, no font file.
//! Labels never overlap: ticks are thinned to the room there is, and the legend has a column of its own.

use crate::base::text::escape;
use std::fmt::Write;

/// Colours that remain distinct for colour-blind readers and in print (Okabe and Ito).
const COLOURS: [&str; 7] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#555555"];
/// Width of a character of our 12-pixel sans-serif, on the safe side.
const GLYPH: f64 = 7.0;

pub struct Chart {
    pub title: String,
    pub x: Axis,
    pub y: Axis,
    pub series: Vec<Series>,
    pub width: f64,
    pub height: f64,
    /// A line below the plot: where the numbers come from.
    pub note: Option<String>,
}

#[derive(Clone, Default)]
pub struct Axis {
    /// With its unit.
    pub label: String,
    pub log: bool,
    /// Where ticks stand; chosen by us if empty.
    pub ticks: Vec<f64>,
    /// Begin at zero (linear axes only).
    pub from_zero: bool,
}

pub struct Series {
    /// For the legend; a series without a name is not in it.
    pub name: String,
    pub points: Vec<Point>,
    pub style: Style,
    /// Number of the colour, so that a fit and its prediction can share one.
    pub colour: usize,
}

#[derive(Clone, Copy)]
pub struct Point {
    pub x: f64,
    pub y: f64,
    /// Smallest and largest value measured here.
    pub range: Option<(f64, f64)>,
}

impl Point {
    pub fn at(x: f64, y: f64) -> Point {
        Point { x, y, range: None }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// Markers with ranges, joined by a line.
    Measured,
    /// A thin solid line.
    Line,
    /// A dashed line: a prediction or an ideal.
    Dashed,
}

/// A scale from values to pixels.
struct Scale {
    low: f64,
    high: f64,
    from: f64,
    to: f64,
    log: bool,
}

impl Scale {
    fn new(axis: &Axis, values: impl Iterator<Item = f64>, from: f64, to: f64) -> Scale {
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for v in values.filter(|v| v.is_finite() && (!axis.log || *v > 0.0)) {
            low = low.min(v);
            high = high.max(v);
        }
        if low > high {
            (low, high) = (1.0, 10.0);
        }
        if axis.log {
            // A little air on both sides, in ratio.
            let air = (high / low).powf(0.05).max(1.05);
            low /= air;
            high *= air;
        } else {
            if axis.from_zero {
                low = low.min(0.0);
            }
            let air = ((high - low) * 0.05).max(if high == low { high.abs().max(1.0) * 0.1 } else { 0.0 });
            high += air;
            if !(axis.from_zero && low == 0.0) {
                low -= air;
            }
        }
        Scale { low, high, from, to, log: axis.log }
    }

    fn at(&self, v: f64) -> f64 {
        let t = if self.log {
            (v.max(f64::MIN_POSITIVE).ln() - self.low.ln()) / (self.high.ln() - self.low.ln())
        } else {
            (v - self.low) / (self.high - self.low)
        };
        self.from + t * (self.to - self.from)
    }

    fn holds(&self, v: f64) -> bool {
        v.is_finite() && v >= self.low * (1.0 - 1e-9) - 1e-12 && v <= self.high * (1.0 + 1e-9) + 1e-12
    }

    /// Where ticks stand, thinned so that neighbours keep `room` pixels apart.
    fn ticks(&self, axis: &Axis, room: f64) -> Vec<f64> {
        let wanted = if !axis.ticks.is_empty() {
            axis.ticks.clone()
        } else if self.log {
            self.log_ticks()
        } else {
            self.linear_ticks(((self.to - self.from).abs() / room).clamp(2.0, 8.0))
        };
        let mut kept: Vec<f64> = Vec::new();
        for t in wanted.into_iter().filter(|t| self.holds(*t)) {
            if kept.last().is_none_or(|last| (self.at(*last) - self.at(t)).abs() >= room) {
                kept.push(t);
            }
        }
        kept
    }

    fn linear_ticks(&self, most: f64) -> Vec<f64> {
        let rough = (self.high - self.low) / most;
        let power = 10f64.powf(rough.log10().floor());
        let step =
            [1.0, 2.0, 5.0, 10.0].into_iter().map(|m| m * power).find(|s| *s >= rough).unwrap_or(rough);
        let first = (self.low / step).ceil() as i64;
        let last = (self.high / step).floor() as i64;
        (first..=last).map(|i| i as f64 * step).collect()
    }

    /// Powers of ten, with 2 and 5 between them when there are few.
    fn log_ticks(&self) -> Vec<f64> {
        let decades = (self.high / self.low).log10();
        let parts: &[f64] = if decades < 1.5 {
            &[1.0, 2.0, 3.0, 5.0, 7.0]
        } else if decades < 3.0 {
            &[1.0, 2.0, 5.0]
        } else {
            &[1.0]
        };
        let first = self.low.log10().floor() as i32;
        let last = self.high.log10().ceil() as i32;
        (first..=last).flat_map(|p| parts.iter().map(move |m| m * 10f64.powi(p))).collect()
    }
}

/// A tick in as few characters as it needs.
fn tick_text(v: f64) -> String {
    let a = v.abs();
    if a != 0.0 && !(1e-3..1e6).contains(&a) {
        let power = a.log10().floor() as i32;
        let lead = v / 10f64.powi(power);
        let exponent: String = power
            .to_string()
            .chars()
            .map(|c| match c {
                '-' => '⁻',
                d => ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'][d.to_digit(10).unwrap_or(0) as usize],
            })
            .collect();
        return if (lead - 1.0).abs() < 1e-9 {
            format!("10{exponent}")
        } else {
            format!("{}·10{exponent}", trim(lead, 2))
        };
    }
    trim(v, if a >= 100.0 { 0 } else { 4 })
}

fn trim(v: f64, digits: usize) -> String {
    let text = format!("{v:.digits$}");
    if !text.contains('.') {
        return text;
    }
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}

pub fn svg(chart: &Chart) -> String {
    let mut out = String::new();
    let legend = legend_width(chart);
    let (w, h) = (chart.width, chart.height);
    let all = || chart.series.iter().flat_map(|s| s.points.iter());
    let ys = all().flat_map(|p| [p.y].into_iter().chain(p.range.into_iter().flat_map(|r| [r.0, r.1])));
    let top = 40.0;
    let bottom = h - if chart.note.is_some() { 70.0 } else { 52.0 };
    let y = Scale::new(&chart.y, ys, bottom, top);
    let y_ticks = y.ticks(&chart.y, 22.0);
    let widest = y_ticks.iter().map(|t| tick_text(*t).chars().count()).max().unwrap_or(1) as f64 * GLYPH;
    let left = 34.0 + widest;
    let right = w - legend - 16.0;
    let x = Scale::new(&chart.x, all().map(|p| p.x), left, right);
    let x_ticks = x.ticks(&chart.x, 34.0);

    let _ = write!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{w}\" height=\"{h}\" viewBox=\"0 0 {w} {h}\" \
         font-family=\"Helvetica, Arial, sans-serif\" font-size=\"12\" fill=\"#222\">\n\
         <rect width=\"{w}\" height=\"{h}\" fill=\"#fff\"/>\n\
         <text x=\"{left:.1}\" y=\"22\" font-size=\"14\" font-weight=\"bold\">{}</text>\n",
        escape(&fitting(&chart.title, (w - left - 8.0) / 8.4))
    );
    for t in &y_ticks {
        let at = y.at(*t);
        let _ = writeln!(
            out,
            "<line x1=\"{left:.1}\" x2=\"{right:.1}\" y1=\"{at:.1}\" y2=\"{at:.1}\" stroke=\"#e3e3e3\"/>\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            left - 6.0,
            at + 4.0,
            tick_text(*t)
        );
    }
    for t in &x_ticks {
        let at = x.at(*t);
        let _ = writeln!(
            out,
            "<line x1=\"{at:.1}\" x2=\"{at:.1}\" y1=\"{bottom:.1}\" y2=\"{:.1}\" stroke=\"#444\"/>\
             <text x=\"{at:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
            bottom + 4.0,
            bottom + 18.0,
            tick_text(*t)
        );
    }
    let _ = write!(
        out,
        "<path d=\"M{left:.1} {top} V{bottom:.1} H{right:.1}\" fill=\"none\" stroke=\"#444\"/>\n\
         <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>\n\
         <text transform=\"translate(14 {:.1}) rotate(-90)\" text-anchor=\"middle\">{}</text>\n",
        (left + right) / 2.0,
        bottom + 38.0,
        escape(&chart.x.label),
        (top + bottom) / 2.0,
        escape(&chart.y.label)
    );
    // What was measured stands above what was fitted to it.
    let (above, below): (Vec<&Series>, Vec<&Series>) =
        chart.series.iter().partition(|s| s.style == Style::Measured);
    for s in below.into_iter().chain(above) {
        draw(&mut out, s, &x, &y);
    }
    let mut at = top + 8.0;
    for s in chart.series.iter().filter(|s| !s.name.is_empty()) {
        key(&mut out, s, right + 18.0, at);
        at += 20.0;
    }
    if let Some(note) = &chart.note {
        let room = (w - 20.0) / 6.0;
        let _ = writeln!(
            out,
            "<text x=\"10\" y=\"{:.1}\" font-size=\"11\" fill=\"#666\">{}</text>",
            h - 8.0,
            escape(&fitting(note, room))
        );
    }
    out.push_str("</svg>\n");
    out
}

/// The text, or its beginning if it does not fit.
fn fitting(text: &str, most: f64) -> String {
    let most = most.max(8.0) as usize;
    if text.chars().count() <= most {
        return text.to_string();
    }
    text.chars().take(most - 1).chain(['…']).collect()
}

fn legend_width(chart: &Chart) -> f64 {
    match chart.series.iter().map(|s| s.name.chars().count()).max() {
        None | Some(0) => 0.0,
        Some(longest) => longest as f64 * GLYPH + 52.0,
    }
}

fn colour(s: &Series) -> &'static str {
    COLOURS[s.colour % COLOURS.len()]
}

fn draw(out: &mut String, s: &Series, x: &Scale, y: &Scale) {
    let seen: Vec<&Point> = s.points.iter().filter(|p| x.holds(p.x) && y.holds(p.y)).collect();
    let path: Vec<String> = seen.iter().map(|p| format!("{:.1} {:.1}", x.at(p.x), y.at(p.y))).collect();
    let stroke = colour(s);
    if path.len() > 1 {
        let dash = if s.style == Style::Dashed { " stroke-dasharray=\"6 4\"" } else { "" };
        let width = if s.style == Style::Measured { "2" } else { "1.4" };
        let _ = writeln!(
            out,
            "<path d=\"M{}\" fill=\"none\" stroke=\"{stroke}\" stroke-width=\"{width}\"{dash}/>",
            path.join(" L")
        );
    }
    if s.style != Style::Measured {
        return;
    }
    for p in seen {
        let (px, py) = (x.at(p.x), y.at(p.y));
        if let Some((low, high)) = p.range
            && high > low
        {
            let (a, b) = (y.at(low), y.at(high));
            let (l, r) = (px - 4.0, px + 4.0);
            let _ = writeln!(
                out,
                "<path d=\"M{px:.1} {a:.1} V{b:.1} M{l:.1} {a:.1} H{r:.1} M{l:.1} {b:.1} H{r:.1}\" \
                 stroke=\"{stroke}\" stroke-width=\"1.2\" fill=\"none\"/>"
            );
        }
        let _ = writeln!(out, "<circle cx=\"{px:.1}\" cy=\"{py:.1}\" r=\"3.5\" fill=\"{stroke}\"/>");
    }
}

fn key(out: &mut String, s: &Series, x: f64, y: f64) {
    let stroke = colour(s);
    let dash = if s.style == Style::Dashed { " stroke-dasharray=\"6 4\"" } else { "" };
    let _ = write!(
        out,
        "<line x1=\"{x:.1}\" x2=\"{:.1}\" y1=\"{y:.1}\" y2=\"{y:.1}\" stroke=\"{stroke}\" stroke-width=\"2\"{dash}/>",
        x + 24.0
    );
    if s.style == Style::Measured {
        let _ = write!(out, "<circle cx=\"{:.1}\" cy=\"{y:.1}\" r=\"3.5\" fill=\"{stroke}\"/>", x + 12.0);
    }
    let _ = writeln!(out, "<text x=\"{:.1}\" y=\"{:.1}\">{}</text>", x + 30.0, y + 4.0, escape(&s.name));
}

/// The width of a letter in the names of bars.
const MONOSPACED: f64 = 6.7;

/// One bar per name, longest first as given: for lists of runs.
pub struct Bar {
    pub name: String,
    pub value: f64,
    pub text: String,
    pub good: bool,
}

pub fn bars(title: &str, bars: &[Bar], width: f64) -> String {
    let row = 20.0;
    let longest = bars.iter().map(|b| b.name.chars().count().min(48)).max().unwrap_or(0) as f64;
    // Names may be all capitals, so their letters are of one width.
    let left = longest * MONOSPACED + 16.0;
    let values = bars.iter().map(|b| b.text.chars().count()).max().unwrap_or(0) as f64 * GLYPH + 16.0;
    let most = bars.iter().map(|b| b.value).fold(0.0, f64::max).max(1e-9);
    let height = 34.0 + row * bars.len() as f64 + 6.0;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
         font-family=\"Helvetica, Arial, sans-serif\" font-size=\"12\" fill=\"#222\">\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"#fff\"/>\n\
         <text x=\"8\" y=\"20\" font-size=\"14\" font-weight=\"bold\">{}</text>\n",
        escape(title)
    );
    for (i, b) in bars.iter().enumerate() {
        let y = 34.0 + row * i as f64;
        let length = (b.value / most * (width - left - values)).max(1.0);
        let fill = if b.good { COLOURS[0] } else { COLOURS[1] };
        let _ = writeln!(
            out,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\" font-family=\"monospace\" font-size=\"11\">{}</text>\
             <rect x=\"{left:.1}\" y=\"{:.1}\" width=\"{length:.1}\" height=\"13\" fill=\"{fill}\"/>\
             <text x=\"{:.1}\" y=\"{:.1}\">{}</text>",
            left - 6.0,
            y + 11.0,
            escape(&fitting(&b.name, 48.0)),
            y,
            left + length + 6.0,
            y + 11.0,
            escape(&b.text)
        );
    }
    out.push_str("</svg>\n");
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(log: bool) -> Axis {
        Axis { label: "x".into(), log, ..Axis::default() }
    }

    #[test]
    fn ticks_are_round_numbers() {
        let s = Scale { low: 0.0, high: 97.0, from: 0.0, to: 300.0, log: false };
        assert_eq!(s.ticks(&axis(false), 50.0), [0.0, 20.0, 40.0, 60.0, 80.0]);
        let s = Scale { low: 0.5, high: 20_000.0, from: 0.0, to: 300.0, log: true };
        assert_eq!(s.ticks(&axis(true), 30.0), [1.0, 10.0, 100.0, 1000.0, 10_000.0]);
        assert_eq!(tick_text(0.5), "0.5");
        assert_eq!(tick_text(2e6), "2·10⁶");
        assert_eq!(tick_text(1e-4), "10⁻⁴");
    }

    #[test]
    fn neighbouring_ticks_keep_their_distance() {
        let s = Scale { low: 0.0, high: 100.0, from: 0.0, to: 100.0, log: false };
        let axis = Axis { ticks: vec![1.0, 2.0, 4.0, 8.0, 64.0], ..Axis::default() };
        assert_eq!(s.ticks(&axis, 30.0), [1.0, 64.0]);
    }

    #[test]
    fn one_point_or_none_still_makes_a_plot() {
        for points in [vec![], vec![Point::at(1.0, 0.0)]] {
            let series = vec![Series { name: "a<b".into(), points, style: Style::Measured, colour: 0 }];
            let chart = Chart {
                title: "t".into(),
                x: axis(false),
                y: axis(true),
                series,
                width: 400.0,
                height: 300.0,
                note: None,
            };
            let text = svg(&chart);
            assert!(text.contains("a&lt;b") && !text.contains("NaN") && !text.contains("inf"), "{text}");
        }
    }
}
