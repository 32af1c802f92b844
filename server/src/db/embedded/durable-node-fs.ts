import { fsyncSync } from "node:fs";
import { NodeFS } from "@electric-sql/pglite/nodefs";

/** WASI's number for EIO, which PostgreSQL must receive if fsync fails. */
const INPUT_OUTPUT_ERROR = 29;

/** The method that Emscripten's NODEFS lacks, under the name by which its `fd_sync` looks it up. */
interface NodeStreamOperations {
  fsync?: (stream: { nfd: number }) => number;
}

interface Attributes {
  mode?: number | null;
}

interface ModuleWithNodeFs {
  NODEFS: {
    stream_ops: NodeStreamOperations;
    doSetAttr(target: unknown, node: unknown, attributes: Attributes, ...functions: unknown[]): void;
  };
}

const OWNER_ONLY = ~0o077;

/**
 * PGlite's file system over a real folder, with a real fsync. Emscripten's NODEFS has none, for files or folders:
 * PostgreSQL's calls succeed, but nothing is made durable. `fdatasync` succeeds without calling the file system and
 * cannot be fixed here, so `wal_sync_method=fsync` is required.
 */
export class DurableNodeFs extends NodeFS {
  readonly #fsync: (fileDescriptor: number) => void;

  /** Tests pass an `fsync` that counts or fails. */
  constructor(folder: string, fsync: (fileDescriptor: number) => void = fsyncSync) {
    super(folder);
    this.#fsync = fsync;
  }

  override async init(...[pglite, moduleOptions]: Parameters<NodeFS["init"]>): ReturnType<NodeFS["init"]> {
    const { emscriptenOpts } = await super.init(pglite, moduleOptions);
    const fsync = (stream: { nfd: number }): number => {
      try {
        this.#fsync(stream.nfd);
        return 0;
      } catch {
        return INPUT_OUTPUT_ERROR;
      }
    };
    const patch = (module: unknown) => {
      const { NODEFS } = module as ModuleWithNodeFs;
      NODEFS.stream_ops.fsync = fsync;
      // Emscripten sets the mode of each file that it creates and ignores the umask of the process.
      const setAttributes = NODEFS.doSetAttr;
      NODEFS.doSetAttr = (target, node, { mode, ...attributes }, ...functions) =>
        setAttributes(
          target,
          node,
          mode == null ? attributes : { ...attributes, mode: mode & OWNER_ONLY },
          ...functions,
        );
    };
    return { emscriptenOpts: { ...emscriptenOpts, preRun: [...(emscriptenOpts.preRun ?? []), patch] } };
  }
}
