import { type SeriesBars, seriesId } from '../../../services/core/bars/series.ts'
import { feedSeconds } from '../../../services/core/clocks/feed-clock.ts'
import type { FeedKey } from '../../../services/core/feeds/compound-key.ts'
import type { BarStore } from '../../../services/ports/bars.ts'
import type { RegistryBody, RegistryRow, RegistryStore } from '../../../services/ports/registry.ts'
import type { WindowStore } from '../../../services/ports/windows.ts'
import {
  windowReads,
  windowsOf,
  windowUnion,
} from '../../../services/stores/embedded/file/acknowledged-rows.ts'
import {
  barReads,
  barUpserts,
  newestTimes,
  spanBounds,
} from '../../../services/stores/embedded/file/bar-rows.ts'
import { openForWriting, transaction } from '../../../services/stores/embedded/file/database.ts'
import { packRows } from '../../../services/stores/embedded/file/packed-rows.ts'
import { registryAppend, registrySince } from '../../../services/stores/embedded/file/registry-rows.ts'
import { untilDone } from '../../../services/stores/write-queue/until-done.ts'
import type { Network } from '../runtime/network.ts'
import type { SimProcess } from '../runtime/timeline.ts'

export interface StoreDefects {
  /** Acknowledges writes before the commit; a restart loses them. */
  readonly acksEarly?: boolean
  /** The last write of a bar wins, also with a smaller revision. */
  readonly lastWins?: boolean
}

/** The store of one run: the tables of the embedded store, called over the simulated network. */
export class StoreServer {
  readonly #network: Network
  readonly #defects: StoreDefects
  readonly #db = openForWriting(':memory:')
  readonly #upsert = barUpserts(this.#db)
  readonly #read = barReads(this.#db)
  readonly #newest = newestTimes(this.#db)
  readonly #bounds = spanBounds(this.#db)
  readonly #addWindow = windowUnion(this.#db)
  readonly #windows = windowReads(this.#db)
  readonly #append = registryAppend(this.#db)
  readonly #since = registrySince(this.#db)
  readonly #early: (readonly SeriesBars[])[] = []

  constructor(network: Network, defects: StoreDefects) {
    this.#network = network
    this.#defects = defects
  }

  /** Direct access to the tables, without the network. */
  readonly contents = {
    read: (query: Parameters<BarStore['read']>[0]) => this.#read(query),
    windows: (feed: FeedKey) => windowsOf(feed, this.#windows({ feed, symbol: undefined })),
    append: (basedOn: number, rows: readonly RegistryBody[]) =>
      transaction(this.#db, () => this.#append(basedOn, asText(rows))),
  }

  /** Restarts the store; committed rows stay. */
  restart(): void {
    this.#early.length = 0
  }

  close(): void {
    this.#db.close()
  }

  of(process: SimProcess): { bars: BarStore; windows: WindowStore; registry: RegistryStore } {
    const ask = <T>(what: string, run: () => T): Promise<T> =>
      this.#network.call(process, 'store', what, run, what === 'write')
    const waiting = { clock: process.clock, isClosed: () => !process.alive }
    return {
      bars: {
        write: (batch, _, { signal } = {}) =>
          untilDone(() => ask('write', () => this.#write(batch)), { ...waiting, signal }),
        waitingBytes: () => new Map(),
        read: (query) => ask('read', () => this.#read(query)),
        lastTimes: (feed) =>
          ask('lastTimes', () => {
            const rows = this.#newest(feed)
            return new Map(
              rows.map(({ symbol, resolution, time }) => [
                seriesId({ symbol, resolution } as never),
                feedSeconds(time),
              ]),
            )
          }),
        bounds: (series, spans) =>
          ask('bounds', () => {
            const flat = this.#bounds(series, Float64Array.from(spans.flatMap(({ from, to }) => [from, to])))
            return spans.map((_, i) => {
              const [first, last] = [flat[2 * i] as number, flat[2 * i + 1] as number]
              return Number.isNaN(first) ? undefined : { first: feedSeconds(first), last: feedSeconds(last) }
            })
          }),
        purge: () => Promise.reject(new Error('nothing is purged here')),
        ping: () => ask('ping', () => undefined),
      },
      windows: {
        add: (windows, signal) => {
          const add = (): void => transaction(this.#db, () => windows.forEach(this.#addWindow))
          return untilDone(() => ask('window', add), { ...waiting, signal })
        },
        withdraw: () => Promise.reject(new Error('nothing is withdrawn here')),
        of: (feed, _, symbol) => ask('windows', () => windowsOf(feed, this.#windows({ feed, symbol }))),
        purge: () => Promise.reject(new Error('nothing is purged here')),
      },
      registry: {
        append: (basedOn, rows) => ask('append', () => this.contents.append(basedOn, rows)),
        since: (version) => ask('since', () => this.#since(version).map(asRow)),
      },
    }
  }

  #write(batch: readonly SeriesBars[]): void {
    if (this.#defects.acksEarly) {
      this.#early.push(batch)
      if (this.#early.length > 3) this.#commit(this.#early.shift() ?? [])
    } else this.#commit(batch)
  }

  #commit(batch: readonly SeriesBars[]): void {
    transaction(this.#db, () => {
      if (this.#defects.lastWins) for (const { series, bars } of batch) this.#forget(series, bars.time)
      for (const rows of packRows(batch, 2_000)) this.#upsert(rows)
    })
  }

  #forget(series: SeriesBars['series'], times: Float64Array): void {
    const id = this.#db
      .prepare('SELECT id FROM series WHERE feed = ? AND symbol = ? AND resolution = ?')
      .get(series.feed, series.symbol, series.resolution)?.['id']
    if (id === undefined) return
    const forget = this.#db.prepare('DELETE FROM bar WHERE series = ? AND time = ?')
    for (const time of times) forget.run(id, time)
  }
}

const asRow = ({ body, ...row }: ReturnType<ReturnType<typeof registrySince>>[number]): RegistryRow =>
  ({ ...row, body: JSON.parse(body) as object }) as RegistryRow

const asText = (rows: readonly RegistryBody[]) =>
  rows.map(({ kind, id, body }) => ({ kind, id, body: JSON.stringify(body) }))
