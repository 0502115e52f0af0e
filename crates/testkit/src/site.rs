//! A web server on loopback that gives everybody the same answer until the test ends, and knows who came.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};

/// One page for whatever is asked for. Its threads end with the test's process.
#[derive(Debug)]
pub struct Site {
    address: SocketAddr,
    visitors: Arc<Mutex<Vec<SocketAddr>>>,
}

impl Site {
    /// Begins to serve this text; HTML where it looks like that.
    ///
    /// # Panics
    /// When there is no port to be had.
    pub fn open(page: &'static str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let visitors: Arc<Mutex<Vec<SocketAddr>>> = Arc::default();
        let seen = visitors.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if let Ok(visitor) = stream.peer_addr() {
                    seen.lock().unwrap_or_else(PoisonError::into_inner).push(visitor);
                }
                // One thread each: a browser opens connections on which it says nothing for a while.
                std::thread::spawn(move || answer(stream, page));
            }
        });
        Self { address, visitors }
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The port alone.
    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// How many connections there were.
    pub fn visits(&self) -> usize {
        self.visitors().len()
    }

    /// Where each of them came from.
    pub fn visitors(&self) -> Vec<SocketAddr> {
        self.visitors.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

fn answer(mut stream: TcpStream, page: &str) {
    let mut head = [0; 4096];
    let _ = stream.read(&mut head);
    let kind = if page.starts_with('<') { "text/html" } else { "text/plain" };
    let size = page.len();
    let head = format!("HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {size}\r\nConnection: close\r\n");
    let _ = write!(stream, "{head}Access-Control-Allow-Origin: *\r\n\r\n{page}");
}
