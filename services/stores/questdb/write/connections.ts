/**
 * Number of connections for rows. The server commits the tables of one request one after another. In commit
 * mode `sync`, each commit waits for the disk about twelve times. The server commits the requests of several
 * connections in parallel, and their waits share the disk's work.
 */
const connectionCount = 4

/** Assigns each table one connection permanently: a connection keeps files open of every table that it wrote. */
export class Connections<Connection> {
  readonly #connections: readonly Connection[]
  readonly #of = new Map<string, Connection>()

  constructor(make: () => Connection, count: number = connectionCount) {
    this.#connections = Array.from({ length: count }, make)
  }

  all(): readonly Connection[] {
    return this.#connections
  }

  of(table: string): Connection {
    const known = this.#of.get(table)
    if (known !== undefined) return known
    // Connections take turns, so that tables which are created together (one feed and resolution) are spread evenly.
    const connection = this.#connections[this.#of.size % this.#connections.length] as Connection
    this.#of.set(table, connection)
    return connection
  }
}
