/**
 * The few things that a spool does with files. Contract:
 *  - calls come one after another, but for `read`;
 *  - what `write` resolved for, the file's name included, survives a kill and a loss of power;
 *  - of a write that was cut off any part may be there; a `cut` or a `remove` may be forgotten.
 */
export interface SpoolFolder {
  /** Names of the files there are. */
  list(): Promise<readonly string[]>
  /** Bytes from `position` on, at most `length`: fewer where the file ends. */
  read(name: string, position: number, length: number): Promise<Uint8Array>
  /** Writes at the end of a file, which is made where it is missing; `position` is that end. */
  write(name: string, position: number, bytes: Uint8Array): Promise<void>
  /** Empties a file. */
  cut(name: string): Promise<void>
  remove(name: string): Promise<void>
  close(): Promise<void>
}
