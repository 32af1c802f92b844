import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin } from "vite";

const SERVICE = "http://127.0.0.1:8080";

/** Compresses once, at the build, so that the service need not at every request. */
function precompress(): Plugin {
  return {
    name: "precompress",
    apply: "build",
    writeBundle({ dir = "dist" }) {
      for (const entry of readdirSync(dir, { recursive: true, withFileTypes: true })) {
        if (!entry.isFile() || !/\.(html|js|css|svg)$/.test(entry.name)) continue;
        const file = join(entry.parentPath, entry.name);
        const bytes = readFileSync(file);
        writeFileSync(`${file}.gz`, gzipSync(bytes, { level: 9 }));
        const quality = { [constants.BROTLI_PARAM_QUALITY]: 11 };
        writeFileSync(`${file}.br`, brotliCompressSync(bytes, { params: quality }));
      }
    },
  };
}

export default defineConfig(({ command }) => {
  // Whatever the environment says: what is built is for use.
  if (command === "build") process.env.NODE_ENV = "production";
  return {
    plugins: [react(), precompress()],
    build: {
      target: "es2023",
      // Inlined, they would be data: addresses, which the Content-Security-Policy need not allow then.
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      reportCompressedSize: false,
      // Before compression; the browser tests hold the first load to its limit.
      chunkSizeWarningLimit: 750,
      rolldownOptions: {
        // Most of it is the compression, and meant to be.
        checks: { pluginTimings: false },
        onwarn(warning, warn) {
          // React's marks for servers; nothing here is rendered on one.
          if (warning.code !== "MODULE_LEVEL_DIRECTIVE") warn(warning);
        },
      },
    },
    server: {
      proxy: Object.fromEntries(["/internal", "/api", "/files"].map((path) => [path, SERVICE])),
    },
  };
});
