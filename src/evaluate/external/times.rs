//! Functions of LibraryIO about dates: seconds since the beginning of 1970, in universal time.
//!
//! In: a name and values. Out: the value, nothing if the name is none of this file, or why there is none.
//! Never here: a clock.

use super::Answer;
use bombus_lang::value::Value;

const DAY: i64 = 24 * 60 * 60;

pub(super) fn value(name: &str, values: &[Value]) -> Option<Answer> {
    let numbers: Vec<i64> = values.iter().filter_map(|v| v.as_int()?.small()).collect();
    match (name, values, &numbers[..]) {
        ("TIMESTAMP", [_, _, _, _, _, _], &[year, month, day, hour, minute, second]) => {
            let is_time = (0..24).contains(&hour) && (0..60).contains(&minute) && (0..60).contains(&second);
            if !(1..=9999).contains(&year) || !is_date(year, month, day) || !is_time {
                return Some(Answer::undefined("there is no such time"));
            }
            let seconds = days(year, month, day) * DAY + (hour * 60 + minute) * 60 + second;
            Some(Answer::Value(Value::int(seconds)))
        }
        ("TIMESTAMP_INFO", [Value::Str(what), _], &[stamp]) => {
            let (day, second) = (stamp.div_euclid(DAY), stamp.rem_euclid(DAY));
            if !(days(1, 1, 1)..=days(9999, 12, 31)).contains(&day) {
                return Some(Answer::undefined("the year is not between 1 and 9999"));
            }
            let (year, month, date) = calendar(day);
            Some(Answer::Value(Value::int(match &**what {
                "year" => year,
                "month" => month,
                "day" => date,
                "hour" => second / 3600,
                "minute" | "min" => second / 60 % 60,
                "second" | "sec" => second % 60,
                _ => return Some(Answer::Undefined(format!("`{what}` is no part of a date"))),
            })))
        }
        _ => None,
    }
}

fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

fn length(year: i64, month: i64) -> i64 {
    match month {
        2 if is_leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

fn is_date(year: i64, month: i64, day: i64) -> bool {
    (1..=12).contains(&month) && (1..=length(year, month)).contains(&day)
}

/// Days from the first of January 1970 to a date.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let before = |year: i64| 365 * year + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    let months: i64 = (1..month).map(|m| length(year, m)).sum();
    before(year - 1) - before(1969) + months + day - 1
}

/// The year, month and day that so many days after the first of January 1970 are.
fn calendar(day: i64) -> (i64, i64, i64) {
    // No year is longer than 366 days, nor shorter than 365.
    let mut year = 1970 + if day >= 0 { day / 366 } else { day / 365 - 1 };
    while days(year + 1, 1, 1) <= day {
        year += 1;
    }
    let mut rest = day - days(year, 1, 1);
    let mut month = 1;
    while rest >= length(year, month) {
        rest -= length(year, month);
        month += 1;
    }
    (year, month, rest + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_day_has_the_date_that_leads_back_to_it() {
        let mut day = days(1, 1, 1);
        for year in 1..=2400 {
            for month in 1..=12 {
                for date in 1..=length(year, month) {
                    assert_eq!((days(year, month, date), calendar(day)), (day, (year, month, date)));
                    day += 1;
                }
            }
        }
        assert_eq!(days(1970, 1, 1), 0);
        assert_eq!(days(2000, 3, 1), 11_017);
    }
}
