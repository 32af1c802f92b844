declare module "fs-native-extensions" {
  /** False where another open file description holds the lock; the kernel releases it with the process. */
  export function tryLock(fileDescriptor: number): boolean;
}
