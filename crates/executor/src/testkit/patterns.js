// Patterns and an address for each: what it gives, and how the pattern reads part by part.
const PARTS = ['protocol', 'username', 'password', 'hostname', 'port', 'pathname', 'search', 'hash'];
const cases = [
  [[{"pathname": "/books/:id"}], "https://a.b/books/12"],
  [[{"pathname": "/books/:id"}], "https://a.b/books/12/x"],
  [[{"pathname": "/books/:id(\\d+)"}], "https://a.b/books/x"],
  [[{"pathname": "/books/:id(\\d+)"}], "https://a.b/books/77"],
  [["/books/:id?", "https://a.b"], "https://a.b/books"],
  [["/f/:rest*", "https://a.b"], "https://a.b/f/x/y"],
  [["/f/:rest*", "https://a.b"], "https://a.b/f"],
  [["/f/:rest+", "https://a.b"], "https://a.b/f"],
  [["/f/:rest+", "https://a.b"], "https://a.b/f/1/2"],
  [["https://*.example.com/foo/*"], "https://api.example.com/foo/bar"],
  [["https://:sub.example.com:8080/a?q=:v#h"], "https://x.example.com:8080/a?q=1#h"],
  [["https://example.com/a{/b}?"], "https://example.com/a/b"],
  [["https://example.com/a{/b}?"], "https://example.com/a"],
  [["http{s}?://example.com/*"], "http://example.com/q"],
  [[{"pathname": "/ü/:x"}], "https://a.b/ü/ä"],
  [["/foo"], "https://a/foo"],
  [[{"search": "a=:v"}], {"search": "a=5"}],
  [["https://example.com"], "https://example.com/any?x#y"],
  [[{"pathname": "/A"}, {"ignoreCase": true}], "https://x/a"],
  [[{"pathname": "/a(b"}], ""],
  [[{"pathname": "/:a/:a"}], ""],
  [[{"pathname": "/*/*"}], "https://x/1/2"],
  [[{"hostname": "*.example.com"}], "https://a.b.example.com/"],
  [["https://example.com:443/x"], "https://example.com/x"],
  [[{"protocol": "https", "hostname": "x.y", "pathname": "/p/*"}], "https://x.y/p/1"],
  [["https://example.com/:a.html"], "https://example.com/q.html"],
  [["https://example.com/:a-:b"], "https://example.com/q-r"],
  [[{"pathname": "/x/{:a}/y"}], "https://h/x/1/y"],
  [[{"pathname": "/img/:name.:ext"}], "https://h/img/cat.png"],
  [[{"pathname": "/(a|b)/c"}], "https://h/b/c"],
  [["https://example.com/?q=*"], "https://example.com/?q=hello"],
  [["https://example.com/x\\?q=1"], "https://example.com/x?q=1"],
  [["https://example.com/x?"], "https://example.com/x"],
  [["https://user@example.com/"], "https://user@example.com/"],
  [["https://user\\:pw@example.com/"], "https://user:pw@example.com/"],
  [["../x", "https://h/a/b"], "https://h/x"],
  [["x/:y", "https://h/a/b"], "https://h/a/x/1"],
  [["?q=:v", "https://h/a"], "https://h/a?q=3"],
  [["#:f", "https://h/a?z"], "https://h/a?z#top"],
  [[{"pathname": "/a\\:b"}], "https://h/a:b"],
  [[{"pathname": "/a*"}], "https://h/abc/d"],
  [[{"pathname": "*.png"}], "https://h/x/y.png"],
  [["/a/b", "https://h:99/q?z#y"], "https://h:99/a/b"],
  [[{"baseURL": "https://h/x", "pathname": "y"}], "https://h/y"],
  [["data:foo*"], "data:foobar"],
  [[], "https://h/"],
  [[{"port": "80", "protocol": "http"}], "http://h/"],
  [["https://example.com/a b"], "https://example.com/a b"],
  [[{"pathname": "/x/:id{.json}?"}], "https://h/x/1.json"],
  [[{"hostname": ":a.com"}], "https://x.com/"],
  [[{"hostname": "EXAMPLE.com"}], "https://example.com/"],
  [[{"pathname": "/:a?/b"}], "https://h/b"],
  [[{"pathname": "/((?:x|y)z)"}], "https://h/xz"],
];
return cases.map(([args, input]) => {
  try {
    const pattern = new URLPattern(...args), found = pattern.exec(input);
    const groups = {};
    for (const name of PARTS) if (found !== null && Object.keys(found[name].groups).length > 0 && pattern[name] !== '*') groups[name] = found[name].groups;
    return [found === null ? null : groups, PARTS.map((name) => pattern[name]).join(' ')];
  } catch (error) {
    return error.name;
  }
});
