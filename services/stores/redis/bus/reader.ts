import type { Log } from '../../../platform/log/log.ts'
import { OutageLog } from '../../../platform/outage-log.ts'
import { Late, within } from '../../../platform/within.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { Keys } from '../keys.ts'
import type { Connection, Ready } from '../link/connection.ts'
import { isErrorReply, isWrongPlace } from '../link/outcomes.ts'
import { scripts } from '../scripts.ts'
import { decodeEvent } from './codec.ts'
import type { Following } from './following.ts'
import { type BusStream, registryStream, type StreamTop, streamTops } from './streams.ts'

/** How long a read waits for the next event; afterwards the reader checks for lost events. */
const blockMs = 1_000
const checkEveryMs = 1_000
const answerDeadlineMs = 1_000
/** Maximum events of one stream per read. */
const readAtOnceMax = 32

export interface ReaderDeps {
  readonly connection: Connection
  readonly keys: Keys
  readonly givenTime: () => string
  readonly clock: Clock
  readonly log: Log
  readonly followers: ReadonlySet<Following>
  readonly onLoss: () => void
}

/**
 * Reads the streams that followers of this process want, over a separate connection, once for all followers. It reports
 * lost events to them: after a gap in the positions or, when no event follows, by a check each second.
 */
export class BusReader {
  readonly #deps: ReaderDeps
  readonly #read = new Map<BusStream, number>()
  /** Until a follower wants events of feeds, only the registry's events are read. */
  #readsRegistryOnly = true
  #newsRead = '0-0'
  #checkedAtMs = Number.NEGATIVE_INFINITY
  #isReading = false
  /** Maximum events of one stream in the next read. Halved after a read that timed out; one more after any other. */
  #readAtOnce = readAtOnceMax

  constructor(deps: ReaderDeps) {
    this.#deps = deps
  }

  /** Reads the streams of a new follower from these positions. Streams that are read already do not change. */
  start(tops: readonly StreamTop[], { wantsRegistryOnly }: Following): void {
    if (!wantsRegistryOnly) this.#readsRegistryOnly = false
    for (const { stream, top } of tops) this.#add(stream, top)
    if (this.#isReading) return
    this.#isReading = true
    void this.#keepReading()
  }

  async #keepReading(): Promise<void> {
    const { connection, clock } = this.#deps
    const outage = new OutageLog(this.#deps)
    for (;;) {
      const ready = await connection.whenReady()
      if (!ready) return
      try {
        await this.#check(ready)
        while (connection.ready === ready) {
          this.#take(await this.#next(ready))
          outage.worked('bus available again')
          if (clock.monotonicMs() - this.#checkedAtMs >= checkEveryMs) await this.#check(ready)
        }
      } catch (cause) {
        if (connection.closed) return
        if (isErrorReply(cause) && !isWrongPlace(cause)) {
          // A new connection would get the same answer.
          const text = 'bus unavailable: Redis refused a read; events are late; retrying'
          outage.failed({ text, cause, reason: cause.message })
          await clock.sleep(checkEveryMs)
          continue
        }
        if (cause instanceof Late) this.#readAtOnce = Math.ceil(this.#readAtOnce / 2)
        connection.drop(ready, cause)
        // The connection notices in a later turn of the event loop that it was dropped.
        await clock.sleep(1)
      }
    }
  }

  async #check(ready: Ready): Promise<void> {
    const { keys, givenTime, clock, followers } = this.#deps
    const { tops, starts, life } = keys.bus
    const asked = new Map(this.#read)
    const args = [givenTime(), ready.run, keys.bus.streams, ...[...asked].flat()]
    const reply = ready.redis.eval(scripts.look.text, 3, tops, starts, life, ...args)
    const streams = streamTops(await within(clock, answerDeadlineMs, 'checking the bus', reply))
    this.#checkedAtMs = clock.monotonicMs()
    const late = [...followers].filter((each) => each.isLate && !each.hasBegun)
    const others = [...followers].filter((each) => !late.includes(each))
    for (const each of late) each.begin(streams)
    for (const { stream, start, top, more } of streams) {
      const position = this.#read.get(stream)
      // Late followers want no earlier events.
      if (position === undefined) this.#add(stream, others.some((each) => each.wants(stream)) ? start : top)
      else if (asked.has(stream) && !more && top > position) this.#reportLost(stream, top)
    }
  }

  /** Returns the events after the last positions read; waits a limited time for them. */
  async #next({ redis }: Ready): Promise<readonly Part[]> {
    const { keys, clock } = this.#deps
    const streams = [...this.#read]
    const names = [keys.bus.news, ...streams.map(([stream]) => keys.bus.streams + stream)]
    const after = [this.#newsRead, ...streams.map(([, position]) => `${position}-0`)]
    const words = ['COUNT', this.#readAtOnce, 'BLOCK', blockMs, 'STREAMS', ...names, ...after]
    const read = redis.callBuffer('XREAD', ...words)
    const reply = await within(clock, blockMs + answerDeadlineMs, 'reading the bus', read)
    this.#readAtOnce = Math.min(readAtOnceMax, this.#readAtOnce + 1)
    return (reply ?? []) as readonly Part[]
  }

  #take(parts: readonly Part[]): void {
    const { keys } = this.#deps
    for (const [name, entries] of parts) {
      const key = name.toString()
      for (const [id, fields] of entries) {
        if (key === keys.bus.news) this.#addStream(id, fields)
        else this.#deliver(key.slice(keys.bus.streams.length), id, fields)
      }
    }
  }

  /** A new stream: it is read from its beginning. */
  #addStream(id: Buffer, [, stream, , start]: readonly Buffer[]): void {
    this.#newsRead = id.toString()
    if (stream && start) this.#add(stream.toString(), Number(start.toString()))
  }

  #add(stream: BusStream, position: number): void {
    const isWanted = stream === registryStream || !this.#readsRegistryOnly
    if (isWanted && !this.#read.has(stream)) this.#read.set(stream, position)
  }

  #deliver(stream: BusStream, id: Buffer, fields: readonly Buffer[]): void {
    const position = Number.parseInt(id.toString(), 10)
    const before = this.#read.get(stream)
    if (before !== undefined && position > before + 1) this.#reportLost(stream, position - 1)
    const event = decodeEvent(fields[1] ?? Buffer.alloc(0))
    this.#read.set(stream, position)
    if (!event) return this.#reportLost(stream, position)
    for (const each of this.#deps.followers) each.deliver(stream, { position, event })
  }

  #reportLost(stream: BusStream, upTo: number): void {
    this.#deps.onLoss()
    this.#read.set(stream, upTo)
    for (const each of this.#deps.followers) each.lost(stream, upTo)
  }
}

type Part = readonly [name: Buffer, entries: readonly (readonly [id: Buffer, fields: readonly Buffer[]])[]]
