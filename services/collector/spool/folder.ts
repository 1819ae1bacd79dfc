/**
 * The file operations of a spool. Contract:
 *  - calls are sequential, except `read`;
 *  - after `write` has resolved, its bytes and the file's name survive a kill and a loss of power;
 *  - an interrupted write may leave any part of its bytes; a `truncate` or a `remove` may be lost.
 */
export interface SpoolFolder {
  list(): Promise<readonly string[]>
  /** Returns at most `length` bytes from `position` on; fewer where the file ends. */
  read(name: string, position: number, length: number): Promise<Uint8Array>
  /** Appends to a file, and creates it when it is missing; `position` is the file's length. */
  write(name: string, position: number, bytes: Uint8Array): Promise<void>
  truncate(name: string): Promise<void>
  remove(name: string): Promise<void>
  close(): Promise<void>
}
