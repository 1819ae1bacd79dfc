/**
 * Number of connections for rows. The server commits the tables of one request one after another. Each has a dozen
 * waits for the disk under "sync". It commits the requests of several connections in parallel, and their waits share
 * the disk's work.
 */
const pathCount = 4

/** Assigns each table one connection permanently: a connection keeps files open of every table that it wrote. */
export class Connections<Path> {
  readonly #paths: readonly Path[]
  readonly #of = new Map<string, Path>()

  constructor(make: () => Path, count: number = pathCount) {
    this.#paths = Array.from({ length: count }, make)
  }

  all(): readonly Path[] {
    return this.#paths
  }

  of(table: string): Path {
    const known = this.#of.get(table)
    if (known !== undefined) return known
    // In rotation, so that the tables of one feed and resolution, created together, are spread evenly.
    const path = this.#paths[this.#of.size % this.#paths.length] as Path
    this.#of.set(table, path)
    return path
  }
}
