import type { Series } from '../../../core/bars/series.ts'
import { type FeedKey, isFeedKey } from '../../../core/feeds/compound-key.ts'
import type { Resolution } from '../../../core/feeds/resolution.ts'

/**
 * Bars of one feed and resolution share a table; M1 and M5 are split into several tables. QuestDB stores all symbols
 * of a minute together, so the cost of a read grows with the symbols in the table. No table contains two clocks. Each
 * name contains the number of buckets, so readers need no other source for it.
 */
const words: Readonly<Record<Exclude<Resolution, '30'>, string>> = {
  '1': 'm1',
  '5': 'm5',
  '10': 'm10',
  '15': 'm15',
  '60': 'h1',
  '120': 'h2',
  '240': 'h4',
  '1D': 'd1',
  '1W': 'w1',
  '1M': 'mn1',
}

const resolutionOf = new Map(
  Object.entries(words).map(([resolution, word]) => [word, resolution as Resolution]),
)

const isSplit = (resolution: Resolution): boolean => resolution === '1' || resolution === '5'
export const bucketCount = (resolution: Resolution, buckets: number): number =>
  isSplit(resolution) ? buckets : 1

/** The symbol column contains the plain name: the table's name contains the feed. */
export function nameOf({ symbol }: Pick<Series, 'symbol'>): string {
  const first = symbol.indexOf(':')
  const second = symbol.indexOf(':', first + 1)
  return first > 0 && second > first + 1 ? symbol.slice(second + 1) : ''
}

/** In a window: all symbols of the feed. No instrument has this name. */
export const allSymbols = ''

function feedWord(feed: FeedKey): string {
  if (!isFeedKey(feed))
    throw new RangeError(`"${String(feed)}" is not a feed key; it must be BROKER:ACCOUNT.`)
  return feed.toLowerCase().replace(':', '_')
}

export interface BarTable {
  readonly feed: string
  readonly resolution: Resolution
  readonly bucket: number
  readonly buckets: number
}

export class TableNames {
  readonly #prefix: string
  readonly registry: string
  readonly schema: string
  /** The ids of the other tables. */
  readonly tables: string
  /** Rows that earlier releases put aside. */
  readonly parked: string
  readonly usageDays: string

  constructor(prefix: string) {
    if (!/^[a-z][a-z0-9_]*$/.test(prefix))
      throw new RangeError(
        `The tables' prefix is "${prefix}"; it must be lower-case letters, digits and _, a letter first.`,
      )
    this.#prefix = prefix
    this.registry = `${prefix}registry`
    this.schema = `${prefix}schema`
    this.tables = `${prefix}tables`
    this.parked = `${prefix}parked`
    this.usageDays = `${prefix}usage_days`
  }

  /** Name of a table that is being created; `mark` is the creator's own. */
  draft(mark: string): string {
    return `${this.#prefix}draft_${mark}`
  }

  /** Whether the table was left behind by a process that ended while it created a table. */
  isDraft(table: string): boolean {
    if (!table.startsWith(`${this.#prefix}draft_`)) return false
    return /^draft_[0-9a-f]{16}$/.test(table.slice(this.#prefix.length))
  }

  windows(feed: FeedKey): string {
    return `${this.#prefix}windows_${feedWord(feed)}`
  }

  isWindows(table: string): boolean {
    if (!table.startsWith(`${this.#prefix}windows_`)) return false
    return /^windows_[a-z0-9]+_[a-z0-9]+$/.test(table.slice(this.#prefix.length))
  }

  /** Compares the whole name: the prefix of another fxd on the server may begin with this one's. */
  isOurs(table: string): boolean {
    const { schema, parked, tables } = this
    return [schema, parked, tables].includes(table) || this.isRecorded(table)
  }

  /** Whether the table holds data of users, so that its id is recorded. */
  isRecorded(table: string): boolean {
    const { registry, usageDays } = this
    return (
      [registry, usageDays].includes(table) || this.isWindows(table) || this.parseBars(table) !== undefined
    )
  }

  bars(feed: FeedKey, resolution: Resolution, bucket: number, buckets: number): string {
    if (resolution === '30') throw new RangeError('Bars of 30 minutes are folded when read, never stored.')
    const name = `${this.#prefix}bars_${feedWord(feed)}_${words[resolution]}`
    return isSplit(resolution) ? `${name}_${bucket}of${buckets}` : name
  }

  /** Parses the name of a table of bars; `feed` as the names spell it. */
  parseBars(table: string): BarTable | undefined {
    if (!table.startsWith(`${this.#prefix}bars_`)) return undefined
    const shape = /^bars_([a-z0-9]+_[a-z0-9]+)_(m1|m5|m10|m15|h1|h2|h4|d1|w1|mn1)(?:_(\d+)of(\d+))?$/
    const match = shape.exec(table.slice(this.#prefix.length))
    const resolution = resolutionOf.get(match?.[2] ?? '')
    if (match?.[1] === undefined || resolution === undefined) return undefined
    if (isSplit(resolution) !== (match[3] !== undefined)) return undefined
    return { feed: match[1], resolution, bucket: Number(match[3] ?? 0), buckets: Number(match[4] ?? 1) }
  }

  isOf(table: BarTable, feed: FeedKey): boolean {
    return table.feed === feedWord(feed)
  }
}
