//! Attacks that once got through, each as a guest would make it, on every kind of host (see `hosts`).

mod disk;
mod memory;
mod own_files;
mod sharing;
mod unseen;
mod wedge;
