import { Unavailable } from '../../../core/failure.ts'
import type { ServerQueries } from '../exec.ts'
import type { QuestdbOptions } from '../options.ts'
import { PgPool } from './pool.ts'

const queryDeadlineMs = 25_000
const pingDeadlineMs = 2_000
/** Every other connection of the process waits for these queries, so a lost one is replaced soon. */
const openMs = 2_000

/**
 * Queries about the server itself for processes that only read. They use the port and user of reads: a read-only user
 * is enough, and the HTTP port, which can write, need not be reachable. Values are texts; NULL is `undefined`.
 */
export function pgQueries(
  options: Pick<QuestdbOptions, 'pg' | 'credentials' | 'clock'>,
): ServerQueries & { close(): void } {
  const pool = new PgPool(options, { connections: 1, waiting: 16, deadlineMs: queryDeadlineMs, openMs })
  const exec = async (sql: string, deadlineMs = queryDeadlineMs): Promise<(string | undefined)[][]> => {
    let rows: (string | undefined)[][] = []
    const begin = () => {
      rows = []
      return (view: DataView, start: number, end: number) => void rows.push(textsOf(view, start, end))
    }
    await pool.read({ sql, parameterSets: [[]], asText: true }, begin, { deadlineMs })
    return rows
  }
  return {
    exec,
    async ping() {
      const [row] = await exec('SELECT 1', pingDeadlineMs)
      if (row === undefined) throw new Unavailable('store', new Error('SELECT 1 gave no row'))
    },
    close: () => pool.close(),
  }
}

function textsOf(view: DataView, start: number, end: number): (string | undefined)[] {
  const texts: (string | undefined)[] = []
  for (let at = start; at < end; ) {
    const length = view.getInt32(at)
    at += 4
    if (length < 0) texts.push(undefined)
    else texts.push(Buffer.from(view.buffer, view.byteOffset + at, length).toString())
    at += Math.max(0, length)
  }
  return texts
}
