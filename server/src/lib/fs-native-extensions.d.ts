declare module "fs-native-extensions" {
  /**
   * Returns false if another open file description holds the lock. The kernel releases the lock when the process ends.
   */
  export function tryLock(fileDescriptor: number): boolean;
}
