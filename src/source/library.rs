//! The definition files and machines that come with Bombus, under the names models expect.
//!
//! They declare external functions; their bodies are the fallback of tools without them.

const FILES: &[(&str, &str)] = &[
    ("CHOOSE.def", include_str!("library/CHOOSE.def")),
    ("LibraryBits.def", include_str!("library/LibraryBits.def")),
    ("LibraryBits.mch", include_str!("library/LibraryBits.mch")),
    ("LibraryCSV.def", include_str!("library/LibraryCSV.def")),
    ("LibraryFiles.def", include_str!("library/LibraryFiles.def")),
    ("LibraryFiles.mch", include_str!("library/LibraryFiles.mch")),
    ("LibraryHash.def", include_str!("library/LibraryHash.def")),
    ("LibraryIO.def", include_str!("library/LibraryIO.def")),
    ("LibraryJSON.def", include_str!("library/LibraryJSON.def")),
    ("LibraryMath.def", include_str!("library/LibraryMath.def")),
    ("LibraryMath.mch", include_str!("library/LibraryMath.mch")),
    ("LibraryMeta.def", include_str!("library/LibraryMeta.def")),
    ("LibraryProB.def", include_str!("library/LibraryProB.def")),
    ("LibraryRandom.def", include_str!("library/LibraryRandom.def")),
    ("LibraryReals.def", include_str!("library/LibraryReals.def")),
    ("LibraryRegex.def", include_str!("library/LibraryRegex.def")),
    ("LibrarySVG.def", include_str!("library/LibrarySVG.def")),
    ("LibraryStrings.def", include_str!("library/LibraryStrings.def")),
    ("LibraryStrings.mch", include_str!("library/LibraryStrings.mch")),
    ("LibraryXML.def", include_str!("library/LibraryXML.def")),
    ("SCCS.def", include_str!("library/SCCS.def")),
    ("SORT.def", include_str!("library/SORT.def")),
];

/// The file's own spelling of a name, whatever the case it was asked for in.
pub fn known(name: &str) -> Option<&'static str> {
    FILES.iter().map(|(n, _)| *n).find(|n| n.eq_ignore_ascii_case(name))
}

pub fn text(name: &str) -> Option<&'static str> {
    FILES.iter().find(|(n, _)| *n == name).map(|(_, text)| *text)
}
