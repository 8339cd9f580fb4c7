//! Reads of open files, up to a maximum size.

use std::fs::{File, Metadata};
use std::io::{self, Read};

/// The result of an operation on a file; `None` if the file does not exist.
///
/// # Errors
/// Any other error of the operation.
pub fn if_there<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        result => result.map(Some),
    }
}

/// Checks that a file is a regular one.
///
/// # Errors
/// `InvalidInput` for anything else.
pub fn check_regular(metadata: &Metadata) -> io::Result<()> {
    if metadata.is_file() {
        return Ok(());
    }
    let text = "not a regular file";
    Err(io::Error::new(io::ErrorKind::InvalidInput, text))
}

/// Reads a whole open regular file, whose reported size is `size` bytes, in one read.
///
/// # Errors
/// As [`read_all_capped`].
pub fn read_file_capped(file: &File, size: u64, max: u64) -> io::Result<Vec<u8>> {
    let room = usize::try_from(size.min(max)).unwrap_or_default();
    let mut bytes = vec![0; room + 1];
    let read = match (&*file).read(&mut bytes) {
        Err(error) if error.kind() == io::ErrorKind::Interrupted => 0,
        read => read?,
    };
    bytes.truncate(read);
    // Size and read agree. Otherwise the file has changed, or its file system reports no sizes.
    if read == room && read > 0 {
        return Ok(bytes);
    }
    read_into(bytes, file, max)
}

/// Reads all of `source`, up to `max` bytes.
///
/// # Errors
/// Any error of the reader, and `FileTooLarge` beyond `max`.
pub fn read_all_capped(source: impl Read, max: u64) -> io::Result<Vec<u8>> {
    read_into(Vec::new(), source, max)
}

fn read_into(mut bytes: Vec<u8>, source: impl Read, max: u64) -> io::Result<Vec<u8>> {
    let left = (max + 1).saturating_sub(bytes.len() as u64);
    source.take(left).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > max {
        let text = format!("larger than {max} bytes");
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, text));
    }
    Ok(bytes)
}
