//! What the index needs of a font file, read and nothing else: names, style, characters.
//!
//! Read and not mapped: a file that somebody shortens meanwhile is then a short read and not the end of the host. And only
//! a few tables: a CJK collection has 20 MB, what is wanted here 300 KB.

use std::collections::HashMap;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::rc::Rc;

use super::index::MAX_FACES;

/// Names, width and weight, characters, axes, and what stands in for a missing `OS/2`.
const WANTED: [&[u8; 4]; 6] = [b"OS/2", b"cmap", b"fvar", b"head", b"name", b"post"];
/// Tables longer than this are no font's: the largest `cmap` in use has less than half a megabyte.
const MAX_TABLE_BYTES: u32 = 8 << 20;
/// Tables of one face that are looked at.
const MAX_TABLES: u16 = 256;
/// Where a table begins in a file: its place in the directory is this long.
const RECORD_BYTES: usize = 16;
const HEADER_BYTES: usize = 12;

/// Each face of a file as a small font of its own; `None` for one that cannot be read.
pub(super) fn faces(file: &File) -> Vec<Option<Vec<u8>>> {
    let mut tables = HashMap::new();
    starts(file).unwrap_or_default().into_iter().map(|start| face(file, start, &mut tables)).collect()
}

/// Where the faces of a file begin.
fn starts(file: &File) -> Option<Vec<u32>> {
    let head: [u8; HEADER_BYTES] = read(file, 0, HEADER_BYTES)?.try_into().ok()?;
    if !head.starts_with(b"ttcf") {
        return Some(vec![0]);
    }
    let count = u32_at(&head, 8)?.min(MAX_FACES);
    let list = read(file, HEADER_BYTES as u64, count as usize * 4)?;
    Some(list.as_chunks::<4>().0.iter().map(|start| u32::from_be_bytes(*start)).collect())
}

type Tables = HashMap<(u32, u32), Rc<[u8]>>;

/// One face. The faces of a collection share tables, which are read once.
fn face(file: &File, start: u32, tables: &mut Tables) -> Option<Vec<u8>> {
    let mut head = read(file, start.into(), HEADER_BYTES)?;
    let count = u16::from_be_bytes([*head.get(4)?, *head.get(5)?]).min(MAX_TABLES);
    let directory = read(file, u64::from(start) + HEADER_BYTES as u64, usize::from(count) * RECORD_BYTES)?;
    let mut kept: Vec<([u8; RECORD_BYTES], Rc<[u8]>)> = Vec::new();
    for record in directory.as_chunks::<RECORD_BYTES>().0 {
        let (offset, length) = (u32_at(record, 8)?, u32_at(record, 12)?);
        if length > MAX_TABLE_BYTES || !WANTED.iter().any(|tag| record.starts_with(*tag)) {
            continue;
        }
        let table = match tables.get(&(offset, length)) {
            Some(table) => Rc::clone(table),
            None => {
                let table: Rc<[u8]> = read(file, offset.into(), length as usize)?.into();
                tables.insert((offset, length), Rc::clone(&table));
                table
            }
        };
        kept.push((*record, table));
    }
    head[4..6].copy_from_slice(&u16::try_from(kept.len()).ok()?.to_be_bytes());
    let mut at = HEADER_BYTES + kept.len() * RECORD_BYTES;
    for (record, table) in &mut kept {
        record[8..12].copy_from_slice(&u32::try_from(at).ok()?.to_be_bytes());
        head.extend_from_slice(record);
        at = (at + table.len()).next_multiple_of(4);
    }
    for (_, table) in &kept {
        head.extend_from_slice(table);
        head.resize(head.len().next_multiple_of(4), 0);
    }
    Some(head)
}

fn read(file: &File, at: u64, length: usize) -> Option<Vec<u8>> {
    let mut bytes = vec![0; length];
    file.read_exact_at(&mut bytes, at).ok()?;
    Some(bytes)
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}
