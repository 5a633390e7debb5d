//! Libraries that come with the checker: as definition files, as machines that are seen, and with files as data.
//!
//! Values follow from the descriptions of the functions, or are computed by hand.

use crate::support::binary::{Folder, check_machine, json};
use serde_json::Value;

/// A machine with definition files and assertions.
fn asserting(libraries: &[&str], assertions: &[&str]) -> String {
    let files: Vec<String> = libraries.iter().map(|l| format!("\"{l}\"")).collect();
    format!(
        "MACHINE M DEFINITIONS {} ASSERTIONS {} OPERATIONS stay = skip END",
        files.join("; "),
        assertions.join("; ")
    )
}

/// All assertions hold.
fn all_hold(libraries: &[&str], assertions: &[&str]) {
    let j = check_machine(&asserting(libraries, assertions), &[]);
    assert_eq!(j["verdict"], "verified", "{libraries:?}: {j}");
}

#[test]
fn texts_are_taken_apart_and_joined() {
    all_hold(
        &["LibraryStrings.def"],
        &[
            "STRING_SPLIT(\"usr/local\",\"/\") = [\"usr\",\"local\"]",
            "STRING_JOIN([\"a\",\"b\"],\"-\") = \"a-b\"",
            "STRING_TO_INT(\" - 012\") = -12",
            "STRING_TO_UPPER(\"aB\") = \"AB\"",
            "SUB_STRING(\"abcdefg\",2,3) = \"bcd\"",
            "INT_TO_HEX_STRING(254) = \"fe\"",
            "FORMAT_TO_STRING(\"~w of ~w\",[1,2]) = \"1 of 2\"",
            "STRING_CONTAINS_STRING(\"abc\",\"bc\")",
            "STRING_REV(\"abc\") = \"cba\"",
        ],
    );
}

#[test]
fn numbers_have_bits_divisors_sines_and_logarithms() {
    all_hold(
        &["LibraryMath.def", "LibraryBits.def"],
        &[
            "GCD(12,-18) = 6",
            "MSB(1025) = 10",
            "COS(314) = -100",
            "LOGx(100,200,900) = 317",
            "FDIV(-7,2) = -4",
            "CDIV(7,2) = 4",
            "BAND(12,10) = 8",
            "BXOR(12,10) = 6",
            "BNOT(0) = -1",
            "BLSHIFT(3,4) = 48",
        ],
    );
}

#[test]
fn dates_are_seconds_in_universal_time() {
    all_hold(
        &["LibraryIO.def"],
        &[
            "TIMESTAMP(1970,1,2,0,0,1) = 86401",
            "TIMESTAMP(2000,3,1,0,0,0)-TIMESTAMP(2000,2,28,0,0,0) = 172800",
            "TIMESTAMP_INFO(\"month\",TIMESTAMP(1969,12,31,23,59,58)) = 12",
            "TIMESTAMP_INFO(\"second\",-2) = 58",
        ],
    );
}

#[test]
fn reals_are_exact_and_a_root_without_one_makes_the_verdict_incomplete() {
    all_hold(
        &["LibraryReals.def"],
        &[
            "RADD(0.1,0.2) = 0.3",
            "RSQRT(2.25) = 1.5",
            "ROUND(2.5) = 3",
            "RLT(0.1,0.2)",
            "RMAX(1.0,2.0) = 2.0",
        ],
    );
    let j = check_machine(&asserting(&["LibraryReals.def"], &["RSQRT(2.0) > 1.0"]), &[]);
    assert_eq!(j["verdict"], "incomplete");
    assert!(j["incomplete_because"].to_string().contains("RSQRT"), "{j}");
}

#[test]
fn sets_are_sorted_chosen_from_and_split_into_components() {
    all_hold(
        &["SORT.def", "CHOOSE.def", "SCCS.def", "LibraryHash.def"],
        &[
            "SORT({\"b\",\"a\",\"10\",\"2\"}) = [\"10\",\"2\",\"a\",\"b\"]",
            "SQUASH({0|->TRUE, 7|->FALSE}) = [TRUE,FALSE]",
            "CHOOSE({5}) = 5",
            "MU({x|x>0 & x<2}) = 1",
            "SCCS({1|->2,2|->1,2|->3}) = {{1,2}}",
            "HASH({1,2}) = HASH({2,1})",
            "SHA_HASH_HEX(1) /= SHA_HASH_HEX({1})",
        ],
    );
}

#[test]
fn patterns_match_search_and_replace() {
    all_hold(
        &["LibraryRegex.def"],
        &[
            "REGEX_MATCH(\"abc\",\"[a-z]+\")",
            "REGEX_REPLACE(\"a01b2\",\"[0-9]+\",\"N\") = \"aNbN\"",
            "REGEX_SEARCH_ALL(\"10234\",\"\\d{1,3}\") = [\"102\",\"34\"]",
            "REGEX_SEARCH(\"ab12\",1,\"([0-9])([0-9])\")'submatches = [\"1\",\"2\"]",
            "REGEX_SEARCH(\"ab12\",1,\"x\")'position = -1",
        ],
    );
}

#[test]
fn library_machines_are_seen_with_their_functions_as_constants() {
    for (machine, assertion) in [
        ("LibraryStrings", "length(\"abc\") = 3 & append(\"a\",\"b\") = \"ab\""),
        ("LibraryMath", "gcd(10,22) = 2 & sin[{0,157}] = {0,100}"),
        ("LibraryBits", "bor(1,6) = 7"),
        ("LibraryFiles", "directory_exists(current_directory) = TRUE & file_exists(\"no.txt\") = FALSE"),
    ] {
        let text = format!("MACHINE M SEES {machine} ASSERTIONS {assertion} OPERATIONS stay = skip END");
        let j = check_machine(&text, &[]);
        assert_eq!(j["verdict"], "verified", "{machine}: {j}");
    }
}

/// A folder with a model that asserts something of files beside it.
fn beside(libraries: &[&str], assertion: &str, files: &[(&str, &str)]) -> Folder {
    let folder = Folder::with_machine(&asserting(libraries, &[assertion]));
    for (name, text) in files {
        folder.write(name, text);
    }
    folder
}

fn verdict(folder: &Folder, options: &[&str]) -> (String, Value) {
    let j = json(&folder.check(options));
    (j["verdict"].as_str().unwrap_or_default().to_owned(), j)
}

#[test]
fn tables_are_read_as_the_declared_type_says() {
    let table = "name,n\nann,3\n\"b, c\",-4\n";
    for assertion in [
        "READ_CSV(\"t.csv\",TRUE,FALSE) = {\"ann\"|->3, \"b, c\"|->-4}",
        "READ_CSV_SEQUENCE(\"t.csv\",TRUE,FALSE) = [\"ann\"|->3, \"b, c\"|->-4]",
        "READ_CSV_STRINGS(\"t.csv\")(1) = {\"name\"|->\"ann\", \"n\"|->\"3\"}",
    ] {
        let folder = beside(&["LibraryCSV.def"], assertion, &[("t.csv", table)]);
        let (verdict, j) = verdict(&folder, &[]);
        assert_eq!(verdict, "verified", "{assertion}: {j}");
    }
    // A cell that is no number is not made one.
    let folder =
        beside(&["LibraryCSV.def"], "READ_CSV(\"t.csv\",FALSE,FALSE) = {1|->2}", &[("t.csv", "1,x")]);
    let (verdict, j) = verdict(&folder, &[]);
    assert_eq!(verdict, "incomplete");
    assert!(j["incomplete_because"].to_string().contains("row 1: `x` is no integer"), "{j}");
}

#[test]
fn a_table_that_is_not_there_is_why_a_constant_has_no_value() {
    let text = "MACHINE M DEFINITIONS \"LibraryCSV.def\" CONSTANTS t PROPERTIES \
                t = READ_CSV_SEQUENCE(\"no.csv\",FALSE,FALSE) & t : seq(INTEGER*STRING) \
                OPERATIONS stay = skip END";
    let j = check_machine(text, &[]);
    assert_eq!(j["verdict"], "incomplete");
    assert!(j["incomplete_because"].to_string().contains("there is no such file"), "{j}");
    assert_eq!(j["warnings"].as_array().map(Vec::len), Some(0), "{j}");
}

#[test]
fn documents_become_sequences_of_elements_and_values_of_the_declared_type() {
    let xml = "<?xml version=\"1.0\"?>\n<data version=\"2\">\n <row k=\"v\"/></data>";
    let assertion = "READ_XML(\"d.xml\",\"UTF-8\")(2)'attributes = {\"k\"|->\"v\"} & \
                     READ_XML(\"d.xml\",\"auto\")(2)'pId = 1 & size(READ_XML(\"d.xml\",\"auto\")) = 2";
    let (found, j) = verdict(&beside(&["LibraryXML.def"], assertion, &[("d.xml", xml)]), &[]);
    assert_eq!(found, "verified", "{j}");
    let text = "{\"name\": \"ann\", \"ages\": [3, 4], \"old\": false}";
    let assertion = "READ_JSON(\"d.json\") = rec(name:\"ann\", ages:[3,4], old:FALSE)";
    let (found, j) = verdict(&beside(&["LibraryJSON.def"], assertion, &[("d.json", text)]), &[]);
    assert_eq!(found, "verified", "{j}");
}

#[test]
fn directories_are_listed_by_the_names_in_them() {
    let assertion =
        "FILES(\".\") = {\"M.mch\",\"one.txt\"} & DIRECTORIES(\".\") = {} & FILE_EXISTS(\"one.txt\")";
    let (found, j) = verdict(&beside(&["LibraryFiles.def"], assertion, &[("one.txt", "")]), &[]);
    assert_eq!(found, "verified", "{j}");
}

#[test]
fn files_outside_of_the_model_s_directory_are_refused_unless_the_user_allows_them() {
    let other = Folder::new();
    let file = other.write("t.csv", "1,2");
    let assertion = format!("READ_CSV(\"{}\",FALSE,FALSE) = {{1|->2}}", file.display());
    let folder = beside(&["LibraryCSV.def"], &assertion, &[]);
    let (found, j) = verdict(&folder, &[]);
    assert_eq!(found, "incomplete");
    assert!(j["incomplete_because"].to_string().contains("--allow-files"), "{j}");
    let allowed = other.path("").display().to_string();
    let (found, j) = verdict(&folder, &["--allow-files", &allowed]);
    assert_eq!(found, "verified", "{j}");
}

#[test]
fn a_run_that_reached_a_limit_says_what_would_see_more() {
    let text = "MACHINE M SETS P VARIABLES s INVARIANT s<:P INITIALISATION s:={} OPERATIONS \
                add(p) = PRE p:P & p/:s THEN s:=s\\/{p} END; del(p) = PRE p:s THEN s:=s-{p} END END";
    let j = check_machine(text, &["--set", "P=8", "--max-states", "20"]);
    let warnings = j["warnings"].to_string();
    assert_eq!(j["verdict"], "incomplete");
    for words in ["--symmetry exact", "elements of P", "--engine ic3", "--set P=7"] {
        assert!(warnings.contains(words), "{words}: {warnings}");
    }
    assert_eq!(check_machine(text, &["--set", "P=3"])["warnings"].as_array().map(Vec::len), Some(0));
}

/// Definition files whose functions cannot be computed still declare them; whoever calls one is told so.
#[test]
fn what_is_drawn_at_random_has_a_name_and_no_value() {
    all_hold(&["LibraryRandom.def", "LibrarySVG.def", "LibraryMeta.def"], &["1 = 1"]);
    for call in [
        "RANDOM(1,6) : 1..6",
        "random_ordering({1,2}) : perm({1,2})",
        "svg_points([1|->2]) = \"\"",
        "HISTORY = []",
    ] {
        let j = check_machine(
            &asserting(&["LibraryRandom.def", "LibrarySVG.def", "LibraryMeta.def"], &[call]),
            &[],
        );
        assert_eq!(j["verdict"], "incomplete", "{call}: {j}");
    }
}
