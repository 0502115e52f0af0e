// url.
(need) => ({
  URL, URLSearchParams,
  fileURLToPath: (url) => decodeURIComponent(new URL(url).pathname),
  pathToFileURL: (path) => new URL('file://' + need('path').resolve(path)),
  format: (url) => (typeof url === 'string' ? new URL(url).href : url.href ?? ((url.protocol ?? '') + '//' + (url.host ?? url.hostname ?? '') + (url.pathname ?? '') + (url.search ?? '') + (url.hash ?? ''))),
  parse: (text, asObject) => {
    const base = 'relative://x', url = new URL(text, base), own = url.protocol === 'relative:';
    return { href: own ? text : url.href, protocol: own ? null : url.protocol, host: own ? null : url.host, hostname: own ? null : url.hostname, port: url.port || null, auth: url.username ? url.username + (url.password ? ':' + url.password : '') : null, pathname: url.pathname, search: url.search || null, query: asObject ? Object.fromEntries(url.searchParams) : url.search.slice(1) || null, hash: url.hash || null, path: url.pathname + url.search };
  },
  resolve: (from, to) => new URL(to, from).href,
})
