import type { Counter } from '../../../platform/metrics.ts'
import type { Administration } from '../exec.ts'
import type { QuestdbOptions } from '../options.ts'

/** A table is not tried more often: each try goes through what it failed at. */
const periodMs = 30_000

/**
 * Resumes tables that QuestDB itself suspended (a disk was full, handles ran out), now and then until the
 * reason is gone. One that a person suspended has no reason in the server's list, and stays so. Never a
 * healthy one: that would confuse the server's own count of suspended tables.
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
      'Tables that QuestDB had suspended and that were asked to go on.',
    )
  }

  /** All that are suspended now, whether anybody has rows for them or not. */
  seen(suspended: ReadonlySet<string>): void {
    const { clock, log } = this.#options
    for (const table of this.#nextMs.keys()) if (!suspended.has(table)) this.#nextMs.delete(table)
    const now = clock.monotonicMs()
    for (const table of suspended) {
      // Not at once: what made it fail is most likely still so.
      const next = this.#nextMs.get(table) ?? now + periodMs
      this.#nextMs.set(table, now < next ? next : now + periodMs)
      if (now < next) continue
      this.#resume(table).catch((cause: unknown) =>
        log.warn({ err: cause, table }, 'a suspended table could not be resumed'),
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
    this.#options.log.warn({ table, reason }, 'a table that QuestDB had suspended was asked to go on')
  }
}
