//! Archives made on the spot, honest and hostile.

use std::io::Write;

use zip::write::SimpleFileOptions;

/// A `.zip` of files; a name that ends in `@` is a link, in `*` executable.
pub fn zip(files: &[(&str, &str)]) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (path, content) in files {
        let options = SimpleFileOptions::default();
        if let Some(link) = path.strip_suffix('@') {
            writer.add_symlink(link, *content, options).unwrap();
        } else {
            let mode = if path.ends_with('*') { 0o755 } else { 0o644 };
            writer
                .start_file(path.trim_end_matches('*'), options.unix_permissions(mode))
                .unwrap();
            writer.write_all(content.as_bytes()).unwrap();
        }
    }
    writer.finish().unwrap().into_inner()
}

/// A `.tar.gz` of files, whose names are written as they are.
pub fn tar_gz(files: &[(&str, &str)]) -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    for (path, content) in files {
        builder
            .append(
                &header(path, tar::EntryType::Regular, content.len()),
                content.as_bytes(),
            )
            .unwrap();
    }
    gz(&builder.into_inner().unwrap())
}

/// A `.tar.gz` with one entry of some kind beside a skill.
pub fn tar_with(path: &str, kind: tar::EntryType, target: &str) -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    let skill = "---\nname: s\ndescription: d\n---\n";
    builder
        .append(
            &header("s/SKILL.md", tar::EntryType::Regular, skill.len()),
            skill.as_bytes(),
        )
        .unwrap();
    let mut entry = header(path, kind, 0);
    let name = &mut entry.as_old_mut().linkname;
    name[..target.len()].copy_from_slice(target.as_bytes());
    entry.set_cksum();
    builder.append(&entry, &b""[..]).unwrap();
    gz(&builder.into_inner().unwrap())
}

pub fn gz(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn header(path: &str, kind: tar::EntryType, size: usize) -> tar::Header {
    let mut header = tar::Header::new_old();
    header.as_old_mut().name[..path.len()].copy_from_slice(path.as_bytes());
    header.set_entry_type(kind);
    header.set_size(size as u64);
    header.set_mode(0o644);
    header.set_cksum();
    header
}
