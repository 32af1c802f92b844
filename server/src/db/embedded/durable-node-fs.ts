import { fsyncSync } from "node:fs";
import { NodeFS } from "@electric-sql/pglite/nodefs";

/** WASI's error number for EIO. */
const INPUT_OUTPUT_ERROR = 29;

/** Emscripten's `fd_sync` calls `fsync`, which NODEFS does not define. */
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
 * PGlite's file system with an fsync that works. In Emscripten's NODEFS, fsync succeeds but makes nothing durable. The
 * same is true of `fdatasync`, which cannot be overridden, so PostgreSQL must run with `wal_sync_method=fsync`.
 */
export class DurableNodeFs extends NodeFS {
  readonly #fsync: (fileDescriptor: number) => void;

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
      // Emscripten ignores the process's umask when it creates a file.
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
