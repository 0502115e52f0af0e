//! The small files of a sandbox: who is who, where names are looked up, what a login shell sets.

/// Folders of the host's `/etc` that programs need and that hold no secrets.
pub(super) const SHARED_FOLDERS: &[&str] = &[
    "alternatives",
    "ca-certificates",
    "fonts",
    "ImageMagick-6",
    "ImageMagick-7",
    "perl",
    "python3",
    "python3.11",
    "python3.12",
    "python3.13",
    "ssl/certs",
    "terminfo",
    "vim",
];

/// Files of the host's `/etc` that are copied.
pub(super) const SHARED_FILES: &[&str] = &[
    "ca-certificates.conf",
    "debian_version",
    "inputrc",
    "ld.so.cache",
    "ld.so.conf",
    "localtime",
    "magic",
    "mime.types",
    "os-release",
    "protocols",
    "services",
    "shells",
    "ssl/openssl.cnf",
    "timezone",
];

/// The files that are our own.
pub(super) fn own_files(hostname: &str) -> [(&'static str, String); 8] {
    [
        (
            "passwd",
            "root:x:0:0:root:/root:/usr/sbin/nologin\n\
             shipyard:x:1000:1000:shipyard:/workspace:/bin/bash\n\
             nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n"
                .to_owned(),
        ),
        ("group", "root:x:0:\ntty:x:5:\nshipyard:x:1000:\nnogroup:x:65534:\n".to_owned()),
        ("hosts", format!("127.0.0.1 localhost {hostname}\n::1 localhost\n")),
        ("hostname", format!("{hostname}\n")),
        ("nsswitch.conf", "passwd: files\ngroup: files\nhosts: files dns\nservices: files\n".to_owned()),
        ("resolv.conf", "# no network\n".to_owned()),
        // `bash -l` reads it for every command: nothing that starts a program belongs here.
        ("profile", "umask 022\nif [ -n \"${PS1-}\" ]; then PS1='\\u@\\h:\\w\\$ '; fi\n".to_owned()),
        ("bash.bashrc", String::new()),
    ]
}
