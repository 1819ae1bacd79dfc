import type { RevisedBar } from '../../../services/core/bars/bar.ts'
import type { CompoundKey } from '../../../services/core/feeds/compound-key.ts'

/** The frames that one socket received, in order. */
export interface SocketRecord {
  readonly id: string
  /** By symbol: the time after which the client requested bars; absent: bars from the reply on. */
  readonly since: Map<string, number>
  readonly seen: Seen[]
  /** Whether the server or the client has closed it. */
  closed: boolean
}

export type Seen =
  /** `at`: seconds on the feed's clock. */
  | { readonly type: 'subscribed'; readonly symbols: readonly string[]; readonly at: number }
  | { readonly type: 'bar'; readonly symbol: string; readonly bar: BarFrame }
  | { readonly type: 'minute'; readonly time: number }
  | { readonly type: 'gap'; readonly symbol: string; readonly after: number; readonly until: number }

export type BarFrame = {
  time: number
  open: number
  high: number
  low: number
  close: number
  volume: number
}

/** Everything that the checks may use: messages sent and received, never the inner state of a process. */
export class Record {
  /** By symbol and time: the bars that ingest published on the bus. */
  readonly published = new Map<string, Map<number, RevisedBar>>()
  /** By symbol and time: the greatest acknowledged revision. */
  readonly acked = new Map<string, Map<number, RevisedBar>>()
  readonly sockets: SocketRecord[] = []
  /** By key and end of the minute: the number of admitted requests. */
  readonly admitted = new Map<string, number>()
  /** Broken promises. */
  readonly violations: string[] = []
  ackedBars = 0

  publish(symbol: CompoundKey, bar: RevisedBar): void {
    const times = this.published.get(symbol) ?? new Map<number, RevisedBar>()
    this.published.set(symbol, times)
    if (!times.has(bar.time)) times.set(bar.time, bar)
  }

  ack(symbol: string, bar: RevisedBar): void {
    this.ackedBars += 1
    const times = this.acked.get(symbol) ?? new Map<number, RevisedBar>()
    this.acked.set(symbol, times)
    const known = times.get(bar.time)
    if (!known || known.revision < bar.revision) times.set(bar.time, bar)
  }
}
