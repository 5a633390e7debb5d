//! The plot of a speed-up measurement: measured medians with their ranges, the ideal, the fitted laws and where they lead.

use super::super::plot::{Axis, Chart, Point, Series, Style, svg};
use super::super::units;
use super::tables::beyond;
use super::{Law, Measured};

pub fn figure(m: &Measured) -> String {
    let least = m.rows.first().map_or(1.0, |r| f64::from(r.workers));
    let measured = m.rows.iter().filter(|r| !r.oversubscribed).map(|r| r.workers).max().unwrap_or(1);
    let largest = m.rows.iter().map(|r| r.workers).max().unwrap_or(1);
    let farthest = beyond(m).first().copied().unwrap_or(measured).max(largest);
    let base = m.rows.first().map_or(1.0, |r| f64::from(r.workers) * r.median);
    let mut series = vec![Series {
        name: "measured".into(),
        points: m
            .rows
            .iter()
            .map(|r| Point {
                x: f64::from(r.workers),
                y: r.speedup,
                range: Some((base / r.most, base / r.least)),
            })
            .collect(),
        style: Style::Measured,
        colour: 0,
    }];
    let named = [("Amdahl", m.amdahl, 1), ("USL", m.universal, 2)];
    for (name, law, colour) in named.into_iter().filter_map(|(n, l, c)| l.map(|l| (n, l, c))) {
        let inside = curve(&law, base, least, f64::from(measured));
        series.push(Series { name: format!("{name}, fitted"), points: inside, style: Style::Line, colour });
        if farthest > measured {
            let outside = curve(&law, base, f64::from(measured), f64::from(farthest));
            series.push(Series {
                name: format!("{name}, predicted"),
                points: outside,
                style: Style::Dashed,
                colour,
            });
        }
    }
    if let Some(costs) = &m.costs {
        let n = 40;
        let points = (0..=n).map(|i| {
            let p = least * (f64::from(farthest) / least).powf(f64::from(i) / f64::from(n));
            Point::at(p, base / costs.seconds(p))
        });
        let name = "cost model, predicted".to_string();
        series.push(Series { name, points: points.collect(), style: Style::Dashed, colour: 3 });
    }
    let ends = [least, f64::from(farthest)];
    series.push(Series {
        name: "ideal".into(),
        points: ends.iter().map(|p| Point::at(*p, *p)).collect(),
        style: Style::Dashed,
        colour: 6,
    });
    let mut ticks: Vec<f64> = m.rows.iter().map(|r| f64::from(r.workers)).collect();
    ticks.push(f64::from(farthest));
    ticks.dedup();
    let repeats = m.runs.iter().map(|r| r.repeat).max().unwrap_or(0);
    svg(&Chart {
        title: format!("{}: {} states", m.machine, units::count(m.found.states)),
        x: Axis { label: format!("{} ({} cores)", m.unit, m.cores), log: true, ticks, from_zero: false },
        y: Axis {
            label: format!("speed-up (times one of the {})", m.unit),
            log: true,
            ticks: powers(farthest),
            from_zero: false,
        },
        series,
        width: 640.0,
        height: 420.0,
        note: Some(format!(
            "bombus {}, {} engine; median and range of {repeats} interleaved runs",
            m.version, m.engine
        )),
    })
}

fn powers(most: u32) -> Vec<f64> {
    let mut all = vec![0.25, 0.5, 1.0];
    while all[all.len() - 1] < f64::from(most) {
        all.push(all[all.len() - 1] * 2.0);
    }
    all
}

/// Points of a law, close enough together to look smooth; speed-ups against the same base as the measured ones.
fn curve(law: &Law, base: f64, from: f64, to: f64) -> Vec<Point> {
    let n = 40;
    (0..=n)
        .map(|i| {
            let p = from * (to / from).powf(f64::from(i) / f64::from(n));
            Point::at(p, base / law.seconds(p))
        })
        .collect()
}
