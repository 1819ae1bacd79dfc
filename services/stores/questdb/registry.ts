import type { SenderOptions } from '@questdb/nodejs-client'
import type { FeedKey } from '../../core/feeds/compound-key.ts'
import type { FeedDefinition } from '../../core/feeds/feed.ts'
import type { SymbolRecord } from '../../core/feeds/symbol.ts'
import { type ClockReading, knownOffset } from '../../core/registry/clock-history.ts'
import { Serial } from '../../platform/serial.ts'
import type { Clock } from '../../ports/clock.ts'
import type { AppendOutcome, RegistryBody, RegistryRow, RegistryStore } from '../../ports/registry.ts'
import { writeDeadlineMs } from '../write-queue/submission.ts'
import type { ServerQueries } from './exec.ts'
import type { TimedFeed } from './layout/retention.ts'
import type { TableRecords } from './layout/table-records.ts'
import { Fields } from './pg/fields.ts'
import type { PgPool } from './pg/pool.ts'
import { RowEncoder } from './write/rows.ts'
import type { Writer } from './write/writer.ts'

/** Maximum rows of one change: it is one transaction and is read back as one. */
const changeRowsMax = 50_000

export interface RegistryDeps {
  readonly table: string
  readonly records: TableRecords
  readonly pool: PgPool
  /** For changes and starts, which may wait longer than a request. */
  readonly patientPool: PgPool
  readonly writer: Writer
  readonly sender: SenderOptions
  readonly clock: Clock
  /** Called after a change of a feed's definition or clock. Must not reject. */
  readonly feedsChanged: () => Promise<void>
}

interface LogRow {
  readonly basedOn: number
  readonly change: string
  readonly size: number
  readonly position: number
  readonly kind: RegistryBody['kind']
  readonly id: string
  readonly body: string
}

/**
 * The registry as a log of changes. A change names the version on which it is based. Of two changes based on the same
 * version, the first that QuestDB committed counts; the other is ignored. Every reader applies this rule in the order
 * of the rows, so two writers can never both succeed.
 */
export class RegistryLog {
  readonly #deps: Pick<RegistryDeps, 'table' | 'records' | 'pool'>
  readonly #newest = new Map<string, RegistryRow>()
  /** Clock readings by `since`. They are few, and every batch of bars needs them. */
  readonly #clocks = new Map<FeedKey, Map<number, ClockReading>>()
  readonly #expected = new Map<string, boolean>()
  #head = 0
  /** The last change that counted. */
  newestChange: Pick<LogRow, 'basedOn' | 'change'> | undefined
  readonly #readings = new Serial()
  /** Increases when another registry replaced this one. */
  generation = 0

  constructor(deps: Pick<RegistryDeps, 'table' | 'records' | 'pool'>) {
    this.#deps = deps
  }

  get head(): number {
    return this.#head
  }

  /** Forgets all rows: the store was replaced by another one, with another registry. */
  forget(): void {
    this.#newest.clear()
    this.#clocks.clear()
    this.#head = 0
    this.newestChange = undefined
    this.generation += 1
  }

  /** Newest rows of the records that changed after `version`, ascending. */
  since(version: number): readonly RegistryRow[] {
    return [...this.#newest.values()]
      .filter((row) => row.version > version)
      .sort((a, b) => a.version - b.version)
  }

  definitions(): readonly FeedDefinition[] {
    return [...this.#newest.values()].flatMap((row) => (row.kind === 'feed' ? [row.body.definition] : []))
  }

  timedFeeds(): readonly TimedFeed[] {
    return this.definitions().flatMap(({ key }) => this.timedFeed(key) ?? [])
  }

  shownFeeds(): readonly TimedFeed[] {
    return this.timedFeeds().filter(({ definition: { key } }) => {
      const row = this.#newest.get(`feed ${key}`)
      return row?.kind === 'feed' && !row.body.hidden
    })
  }

  /** As of the last read, hidden feeds included. */
  timedFeed(feed: FeedKey): TimedFeed | undefined {
    const row = this.#newest.get(`feed ${feed}`)
    if (row?.kind !== 'feed') return undefined
    const { definition } = row.body
    return { definition, offsetSeconds: knownOffset(definition, this) }
  }

  /** In order of time. */
  clocksOf(feed: FeedKey): readonly ClockReading[] {
    return [...(this.#clocks.get(feed)?.values() ?? [])].sort((a, b) => a.since - b.since)
  }

  /** Watches for this change: `counted` then returns whether it counted, whichever reader reads it first. */
  expect(change: string): void {
    this.#expected.set(change, false)
  }

  /** Whether the change counted; forgets the change. */
  counted(change: string): boolean {
    const counted = this.#expected.get(change) === true
    this.#expected.delete(change)
    return counted
  }

  /** Reads the changes after the last read; reads run one after another. */
  follow(pool: PgPool = this.#deps.pool): Promise<void> {
    return this.#readings.run(() => this.#read(pool))
  }

  async #read(pool: PgPool): Promise<void> {
    const rows = await this.#rowsFrom(this.#head, pool)
    for (const change of wholeChanges(rows)) {
      const [{ basedOn, change: id }] = change
      if (basedOn !== this.#head) continue
      this.#apply(change)
      if (this.#expected.has(id)) this.#expected.set(id, true)
    }
  }

  #apply(change: readonly LogRow[]): void {
    for (const { basedOn, position, kind, id, body } of change) {
      const row = {
        kind,
        id,
        version: basedOn + 1 + position,
        body: JSON.parse(body) as unknown,
      } as RegistryRow
      // It is deleted first, so that it moves to the end of the map, which is in the order of versions.
      this.#newest.delete(`${kind} ${id}`)
      this.#newest.set(`${kind} ${id}`, row)
      if (row.kind === 'clock') this.#noteClock(row.body)
    }
    this.#head += change.length
    this.newestChange = change[0]
  }

  #noteClock(reading: ClockReading): void {
    const ofFeed = this.#clocks.get(reading.feed) ?? new Map<number, ClockReading>()
    this.#clocks.set(reading.feed, ofFeed.set(reading.since, reading))
  }

  async #rowsFrom(head: number, pool: PgPool): Promise<LogRow[]> {
    this.#deps.records.refuse(this.#deps.table)
    const rows: LogRow[] = []
    const sql =
      `SELECT ts::long, change, size, position, kind, id, body FROM '${this.#deps.table}' ` +
      'WHERE ts >= $1::long::timestamp ORDER BY ts'
    await pool.read({ sql, parameterSets: [[String(head)]] }, () => {
      rows.length = 0
      return (view, start) => {
        const fields = new Fields(view, start)
        rows.push({
          basedOn: fields.long(),
          change: fields.text() ?? '',
          size: fields.long(),
          position: fields.long(),
          kind: fields.text() as RegistryBody['kind'],
          id: fields.text() ?? '',
          body: fields.text() ?? '',
        })
      }
    })
    return rows
  }
}

/** Forgets all rows when the table lacks the newest one: it is an older copy. Changes based on it would never count. */
export async function forgetOlder(
  log: RegistryLog,
  { table, records, queries }: Pick<RegistryDeps, 'table' | 'records'> & { readonly queries: ServerQueries },
): Promise<void> {
  const newest = log.newestChange
  if (newest === undefined || records.errorOf(table)) return
  // A server that has just started shows its newest rows late. A suspended table does not show them at all.
  const isShown = await queries.exec(`SELECT wait_wal_table('${table}')`).catch(() => undefined)
  if (isShown === undefined) return
  const [row] = await queries.exec(
    `SELECT count() FROM '${table}' WHERE ts = ${newest.basedOn}::timestamp AND change = '${newest.change}'`,
  )
  if (Number(row?.[0]) === 0 && newest === log.newestChange) log.forget()
}

/** The symbols of a feed as of the last read, hidden ones included. */
export const symbolsOf = (feed: FeedKey, log: RegistryLog): readonly SymbolRecord[] =>
  log.since(0).flatMap((row) => (row.kind === 'symbol' && row.body.feed === feed ? [row.body] : []))

/**
 * The complete changes, in the order of the log. A request is sent again when its answer was lost, so a change may
 * appear twice and its first copy may be incomplete. A change begins at each first position and ends with its size,
 * whatever follows.
 */
function* wholeChanges(rows: readonly LogRow[]): Generator<readonly [LogRow, ...LogRow[]]> {
  let change: LogRow[] = []
  for (const row of rows) {
    const [first] = change
    const continues = first?.change === row.change && first.basedOn === row.basedOn
    if (row.position === 0) change = [row]
    else if (continues && row.position === change.length) change.push(row)
    else change = []
    if (change.length === row.size) {
      yield change as [LogRow, ...LogRow[]]
      change = []
    }
  }
}

export function questdbRegistry(log: RegistryLog, deps: RegistryDeps): RegistryStore {
  const changes = new Serial()

  const append = async (basedOn: number, rows: readonly RegistryBody[]): Promise<AppendOutcome> => {
    await log.follow(deps.patientPool)
    if (log.head !== basedOn) return { outcome: 'conflict' }
    if (rows.length === 0) return { outcome: 'stored', version: basedOn }
    const change = deps.clock.randomHex(16)
    log.expect(change)
    try {
      await deps.writer.write(encodeChange(rows, basedOn, change, deps), {
        lane: 'live',
        deadlineMs: writeDeadlineMs,
      })
      await log.follow(deps.patientPool)
    } catch (cause) {
      log.counted(change)
      throw cause
    }
    if (!log.counted(change)) return { outcome: 'conflict' }
    if (rows.some(({ kind }) => kind === 'feed' || kind === 'clock')) await deps.feedsChanged()
    return { outcome: 'stored', version: basedOn + rows.length }
  }

  return {
    get generation() {
      return log.generation
    },
    append(basedOn, rows) {
      if (rows.length > changeRowsMax)
        return Promise.reject(new RangeError(`A change of ${rows.length} rows; at most ${changeRowsMax}.`))
      return changes.run(() => append(basedOn, rows))
    },
    async since(version) {
      await log.follow()
      return log.since(version)
    },
  }
}

function encodeChange(
  rows: readonly RegistryBody[],
  basedOn: number,
  change: string,
  { table, sender }: RegistryDeps,
) {
  const encoder = new RowEncoder(sender, changeRowsMax)
  rows.forEach(({ kind, id, body }, position) =>
    encoder.add(table, (row) => {
      row
        .symbol('kind', kind)
        .stringColumn('change', change)
        .intColumn('size', rows.length)
        .intColumn('position', position)
        .stringColumn('id', id)
        .stringColumn('body', JSON.stringify(body))
        .at(basedOn, 'us')
    }),
  )
  return encoder.pieces()
}
