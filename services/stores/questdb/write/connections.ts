/**
 * Connections for rows. The server commits the tables of one request one after the other, each with a
 * dozen waits for the disk under "sync"; those of several connections it commits side by side, and their
 * waits share the disk's work.
 */
const pathCount = 4

/** Gives each table one path for good: a connection holds files open of every table that it wrote. */
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
    // In turn, so that the tables of one feed and resolution, made together, are spread evenly.
    const path = this.#paths[this.#of.size % this.#paths.length] as Path
    this.#of.set(table, path)
    return path
  }
}
