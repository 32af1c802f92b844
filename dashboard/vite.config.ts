import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import react from "@vitejs/plugin-react";
import { build, defineConfig, type Plugin } from "vite";

const SERVICE = "http://127.0.0.1:8080";
const FIRST_PAINT = "/src/ui/first-paint.ts";

/**
 * A script that the browser waits for before it draws. Modules come after the first paint, and a script inside the
 * document is what the Content-Security-Policy forbids: so it is a small file of its own, made by a build of its own.
 */
function firstPaint(): Plugin {
  let file: string | null = null;
  return {
    name: "first-paint",
    async generateBundle() {
      const made = await build({
        configFile: false,
        root: import.meta.dirname,
        logLevel: "silent",
        build: {
          write: false,
          target: "es2023",
          lib: { entry: join(import.meta.dirname, FIRST_PAINT), formats: ["iife"], name: "firstPaint" },
        },
      });
      const output = Array.isArray(made) ? made[0]?.output : undefined;
      if (!output) throw new Error("the script before the first paint was not built");
      const reference = this.emitFile({ type: "asset", name: "first-paint.js", source: output[0].code });
      file = this.getFileName(reference);
    },
    transformIndexHtml: {
      order: "post",
      handler: () => [
        file === null
          ? { tag: "script", attrs: { type: "module", src: FIRST_PAINT }, injectTo: "head-prepend" }
          : { tag: "script", attrs: { src: `/${file}` }, injectTo: "head-prepend" },
      ],
    },
  };
}

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
    plugins: [react(), firstPaint(), precompress()],
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
