//! Functions of LibraryFiles and LibraryCSV: names in directories, lines, tables.
//!
//! In: a name, values, the type that the model declares. Out: the value, nothing if the name is none of this file, or
//! why there is none. `base::data_files` decides what may be read. Never here: a file that is written, a clock.

use super::Answer;
use super::typed_text::atom;
use bombus_base::data_files::{DataFiles, Kind};
use bombus_lang::typed::{Machine, Type};
use bombus_lang::value::Value;
use std::sync::Arc;

pub(super) fn value(machine: &Machine, name: &str, values: &[Value], ty: &Type) -> Option<Answer> {
    let files = &*machine.files;
    let Value::Str(path) = values.first()? else { return None };
    let answer = match (name, &values[1..]) {
        ("FILES", []) => names(files, path, false, false),
        ("FULL_FILES", []) => names(files, path, false, true),
        ("DIRECTORIES", []) => names(files, path, true, false),
        ("FULL_DIRECTORIES", []) => names(files, path, true, true),
        ("FILE_EXISTS", []) => files.kind(path).map(|kind| Value::Bool(matches!(kind, Kind::File { .. }))),
        ("DIRECTORY_EXISTS", []) => files.kind(path).map(|kind| Value::Bool(kind == Kind::Directory)),
        ("FILE_PROPERTY_VALUE", [Value::Str(what)]) if &**what == "size_in_bytes" => match files.kind(path) {
            Ok(Kind::File { bytes }) => Ok(Value::Int((bytes as usize).into())),
            Ok(_) => return Some(Answer::undefined("there is no such file")),
            Err(why) => Err(why),
        },
        ("READ_FILE_AS_STRINGS" | "READ_FILE_AS_STRING_SEQUENCE", []) => {
            files.text(path).map(|text| Value::seq(text.lines().map(Value::str)))
        }
        ("READ_FILE_AS_STRING" | "READ_FILE", []) => files.text(path).map(|text| Value::str(&text)),
        ("READ_CSV_STRINGS", []) => files.text(path).and_then(|text| records(&text)),
        ("READ_CSV" | "READ_CSV_SEQUENCE", flags) => {
            let flag = |n: usize| flags.get(n).and_then(Value::as_bool).unwrap_or(false);
            let reading = Reading { machine, skip_first: flag(0), extra: flag(1) };
            files.text(path).and_then(|text| reading.rows(&text, ty, name == "READ_CSV_SEQUENCE"))
        }
        _ => return None,
    };
    Some(answer.map_or_else(Answer::Unsupported, Answer::Value))
}

/// The names of files or directories, alone or behind the name of the directory.
fn names(files: &DataFiles, directory: &str, directories: bool, full: bool) -> Result<Value, String> {
    let listing = files.list(directory)?;
    let names = if directories { &listing.directories } else { &listing.files };
    let shown = |name: &String| {
        if full { Value::str(&DataFiles::joined(directory, name)) } else { Value::str(name) }
    };
    Ok(Value::set(names.iter().map(shown).collect()))
}

/// How a table is read.
struct Reading<'a> {
    machine: &'a Machine,
    /// The first line holds the names of the columns.
    skip_first: bool,
    /// Columns beyond those of the type are left out; else they are an error.
    extra: bool,
}

impl Reading<'_> {
    fn rows(&self, text: &str, ty: &Type, sequence: bool) -> Result<Value, String> {
        let wanted = "a table is a set or a sequence of rows";
        let row = match ty {
            Type::Pow(row) => &**row,
            _ => return Err(wanted.into()),
        };
        let row = match row {
            Type::Prod(index, row) if sequence && **index == Type::Integer => &**row,
            _ if sequence => return Err(wanted.into()),
            row => row,
        };
        let mut lines = table(text).into_iter().enumerate();
        let header = if self.skip_first { lines.next().map(|(_, cells)| cells) } else { None };
        let mut rows = Vec::new();
        for (number, cells) in lines {
            let value = self.row(row, &cells, header.as_deref());
            rows.push(value.map_err(|why| format!("row {}: {why}", number + 1))?);
        }
        Ok(if sequence { Value::seq(rows) } else { Value::set(rows) })
    }

    fn row(&self, ty: &Type, cells: &[String], header: Option<&[String]>) -> Result<Value, String> {
        if let Type::Struct(fields) = ty {
            let header =
                header.ok_or("rows that are records need a first line with the names of the fields")?;
            let field = |(name, ty): &(bombus_base::Name, Type)| {
                let column = header.iter().position(|h| *h.trim() == **name);
                let cell = column.and_then(|n| cells.get(n));
                atom(self.machine, ty, cell.ok_or_else(|| format!("there is no column `{name}`"))?)
            };
            let values: Result<Vec<Value>, String> = fields.iter().map(field).collect();
            return Ok(Value::Rec(Arc::from(values?)));
        }
        let mut rest = cells;
        let value = self.columns(ty, &mut rest)?;
        if !rest.is_empty() && !self.extra {
            return Err(format!("{} cells are left over", rest.len()));
        }
        Ok(value)
    }

    /// The columns of a product, from the left.
    fn columns(&self, ty: &Type, cells: &mut &[String]) -> Result<Value, String> {
        if let Type::Prod(first, second) = ty {
            let first = self.columns(first, cells)?;
            return Ok(Value::pair(first, self.columns(second, cells)?));
        }
        let (cell, rest) = cells.split_first().ok_or("cells are missing")?;
        *cells = rest;
        atom(self.machine, ty, cell)
    }
}

/// One function for each row, from the names of the first line to the cells that are not empty.
fn records(text: &str) -> Result<Value, String> {
    let mut lines = table(text).into_iter();
    let header = lines.next().ok_or("the table is empty")?;
    Ok(Value::seq(lines.map(|cells| {
        let filled = header.iter().zip(&cells).filter(|(_, cell)| !cell.is_empty());
        Value::set(filled.map(|(name, cell)| Value::pair(Value::str(name), Value::str(cell))).collect())
    })))
}

/// The cells of a table, row by row; empty lines are left out. A cell in quotes may hold separators, doubled quotes
/// and ends of lines.
fn table(text: &str) -> Vec<Vec<String>> {
    let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let separator = [',', ';', '\t'].into_iter().find(|c| first.contains(*c)).unwrap_or(',');
    let mut rows = Vec::new();
    let (mut row, mut cell, mut quoted) = (Vec::new(), String::new(), false);
    let mut letters = text.chars().peekable();
    while let Some(c) = letters.next() {
        match c {
            '"' if quoted && letters.peek() == Some(&'"') => {
                letters.next();
                cell.push('"');
            }
            '"' if quoted => quoted = false,
            '"' if cell.trim().is_empty() => {
                cell.clear();
                quoted = true;
            }
            '\r' if !quoted && letters.peek() == Some(&'\n') => {}
            '\n' if !quoted => {
                row.push(std::mem::take(&mut cell));
                rows.push(std::mem::take(&mut row));
            }
            c if c == separator && !quoted => row.push(std::mem::take(&mut cell)),
            c => cell.push(c),
        }
    }
    row.push(cell);
    rows.push(row);
    rows.retain(|cells| cells.iter().any(|cell| !cell.trim().is_empty()));
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_in_quotes_hold_separators_quotes_and_line_ends() {
        let rows = table("a,\"b,\"\"c\"\"\nd\",e\r\n\n1, 2,\n");
        assert_eq!(rows, [vec!["a", "b,\"c\"\nd", "e"], vec!["1", " 2", ""]]);
        assert_eq!(table("x;y\n1,5;2"), [["x", "y"], ["1,5", "2"]]);
    }

    #[test]
    fn a_row_without_a_cell_is_a_function_without_that_argument() {
        let rows = records("n,m\n1,\n,2").expect("a table");
        let one = |name: &str, cell: &str| Value::set(vec![Value::pair(Value::str(name), Value::str(cell))]);
        assert_eq!(rows, Value::seq([one("n", "1"), one("m", "2")]));
    }
}
