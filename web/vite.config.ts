import { defineConfig } from "vite";

// Names without a hash: the server sends each file's version as its ETag, and the binary's list of files stays readable.
export default defineConfig({
    base: "/",
    esbuild: { jsx: "automatic", jsxImportSource: "preact", legalComments: "none" },
    build: {
        target: "es2022",
        modulePreload: { polyfill: false },
        assetsInlineLimit: 0,
        reportCompressedSize: false,
        // The editor and the terminal are large, and loaded only where they are used.
        chunkSizeWarningLimit: 1_000,
        rollupOptions: {
            output: {
                entryFileNames: "page/main.js",
                // A screen's chunk has its folder's name.
                chunkFileNames: (chunk) => `page/${/screens\/(\w+)\/view/.exec(chunk.facadeModuleId ?? "")?.[1] ?? "[name]"}.js`,
                assetFileNames: "page/[name][extname]",
            },
        },
    },
    // `npm run dev` beside a `cove serve`: the page asks that server.
    server: {
        proxy: Object.fromEntries(
            ["/v1", "/metrics", "/health", "/page/session", "/page/links", "/page/host"].map((path) => [
                path,
                { target: process.env["COVE_URL"] ?? "http://127.0.0.1:8114", ws: true },
            ]),
        ),
    },
});
