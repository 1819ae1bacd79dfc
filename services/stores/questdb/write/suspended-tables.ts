import type { Counter } from '../../../platform/metrics.ts'
import type { Administration } from '../exec.ts'
import type { QuestdbOptions } from '../options.ts'

/** Interval between attempts to resume one table. Each attempt repeats the work that failed. */
const periodMs = 30_000

/**
 * Resumes tables that QuestDB itself suspended (full disk, no file handles), and retries until the reason is gone. A
 * table that somebody suspended has no reason in the server's list and stays suspended. A healthy table is never
 * resumed: that would corrupt the server's own count of suspended tables.
 */
export class SuspendedTables {
  readonly #options: Pick<QuestdbOptions, 'clock' | 'log'>
  readonly #admin: Pick<Administration, 'exec'>
  readonly #resumed: Counter
  readonly #nextMs = new Map<string, number>()

  constructor(
    { clock, log, metrics }: Pick<QuestdbOptions, 'clock' | 'log' | 'metrics'>,
    admin: Pick<Administration, 'exec'>,
  ) {
    this.#options = { clock, log }
    this.#admin = admin
    this.#resumed = metrics.counter(
      'fxd_questdb_resumes_total',
      'Attempts to resume tables that QuestDB had suspended.',
    )
  }

  /** Call it with all tables that are suspended now, whether or not there are rows for them. */
  seen(suspended: ReadonlySet<string>): void {
    const { clock, log } = this.#options
    for (const table of this.#nextMs.keys()) if (!suspended.has(table)) this.#nextMs.delete(table)
    const now = clock.monotonicMs()
    for (const table of suspended) {
      // A table is not resumed at once, because the reason of the failure most likely still exists.
      const next = this.#nextMs.get(table) ?? now + periodMs
      this.#nextMs.set(table, now < next ? next : now + periodMs)
      if (now < next) continue
      this.#resume(table).catch((cause: unknown) =>
        log.warn({ err: cause, table }, 'failed to resume a suspended table; retrying in 30 s'),
      )
    }
  }

  async #resume(table: string): Promise<void> {
    const [row] = await this.#admin.exec(
      `SELECT errorTag, errorMessage FROM wal_tables() WHERE name = '${table}' AND suspended`,
    )
    const reason = (row ?? []).filter((each) => each !== null && each !== '').join(': ')
    if (reason === '') return
    await this.#admin.exec(`ALTER TABLE '${table}' RESUME WAL`)
    this.#resumed.inc()
    this.#options.log.warn({ table, reason }, 'resumed a table that QuestDB had suspended')
  }
}
