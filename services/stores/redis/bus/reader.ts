import type { Log } from '../../../platform/log/log.ts'
import { OutageLog } from '../../../platform/outage-log.ts'
import { Late, within } from '../../../platform/within.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { Connection, Ready } from '../connection.ts'
import type { Keys } from '../keys.ts'
import { isErrorReply, isWrongPlace } from '../outcomes.ts'
import { type Script, scripts } from '../scripts.ts'
import { decodeEvent } from './codec.ts'
import type { Following } from './following.ts'
import { type Lane, type LaneTop, laneTops, registryLane } from './lanes.ts'

/** How long a read waits for the next event; afterwards the reader checks for lost events. */
const blockMs = 1_000
const checkEveryMs = 1_000
const answerDeadlineMs = 1_000
/** Maximum events of one lane per read. */
const readAtOnceMax = 32

export interface ReaderDeps {
  readonly connection: Connection
  readonly keys: Keys
  readonly given: () => string
  readonly clock: Clock
  readonly log: Log
  readonly followers: ReadonlySet<Following>
  readonly onLoss: () => void
}

/**
 * Reads the lanes that followers of this process want, over a separate connection, once for all followers. It reports
 * lost events to them: after a gap in the positions or, when no event follows, by a check each second.
 */
export class Reader {
  readonly #deps: ReaderDeps
  /** The last position read of each lane. */
  readonly #read = new Map<Lane, number>()
  /** Until a follower wants events of feeds, only the registry's events are read. */
  #readsRegistryOnly = true
  #newsRead = '0-0'
  #checkedAtMs = Number.NEGATIVE_INFINITY
  #isReading = false
  /** Events of one lane per read: halved after each read that took too long, until all events are read. */
  #readAtOnce = readAtOnceMax

  constructor(deps: ReaderDeps) {
    this.#deps = deps
  }

  /** Reads the lanes of a new follower from these positions. Lanes that are read already do not change. */
  start(tops: readonly LaneTop[], { wantsRegistryOnly }: Following): void {
    if (!wantsRegistryOnly) this.#readsRegistryOnly = false
    for (const { lane, top } of tops) this.#add(lane, top)
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
    const { keys, given, clock, followers } = this.#deps
    const { tops, starts, life } = keys.bus
    const asked = new Map(this.#read)
    const args = [given(), ready.run, keys.bus.streams, ...[...asked].flat()]
    const lanes = laneTops(
      await within(
        clock,
        answerDeadlineMs,
        'checking the bus',
        run(ready, scripts.look, [tops, starts, life], args),
      ),
    )
    this.#checkedAtMs = clock.monotonicMs()
    const late = [...followers].filter((each) => each.isLate && !each.hasBegun)
    const others = [...followers].filter((each) => !late.includes(each))
    for (const each of late) each.begin(lanes)
    for (const { lane, start, top, more } of lanes) {
      const position = this.#read.get(lane)
      // Late followers want no earlier events.
      if (position === undefined) this.#add(lane, others.some((each) => each.wants(lane)) ? start : top)
      else if (asked.has(lane) && !more && top > position) this.#reportLost(lane, top)
    }
  }

  /** Returns the events after the last positions read; waits a limited time for them. */
  async #next({ redis }: Ready): Promise<readonly Part[]> {
    const { keys, clock } = this.#deps
    const lanes = [...this.#read]
    const names = [keys.bus.news, ...lanes.map(([lane]) => keys.bus.streams + lane)]
    const after = [this.#newsRead, ...lanes.map(([, position]) => `${position}-0`)]
    const words = ['COUNT', this.#readAtOnce, 'BLOCK', blockMs, 'STREAMS', ...names, ...after]
    const reply = await within(
      clock,
      blockMs + answerDeadlineMs,
      'reading the bus',
      redis.callBuffer('XREAD', ...words),
    )
    if (!reply) this.#readAtOnce = readAtOnceMax
    return (reply ?? []) as readonly Part[]
  }

  #take(parts: readonly Part[]): void {
    const { keys } = this.#deps
    for (const [name, entries] of parts) {
      const stream = name.toString()
      for (const [id, fields] of entries) {
        if (stream === keys.bus.news) this.#addLane(id, fields)
        else this.#deliver(stream.slice(keys.bus.streams.length), id, fields)
      }
    }
  }

  /** A new lane: it is read from its beginning. */
  #addLane(id: Buffer, [, lane, , start]: readonly Buffer[]): void {
    this.#newsRead = id.toString()
    if (lane && start) this.#add(lane.toString(), Number(start.toString()))
  }

  #add(lane: Lane, position: number): void {
    const isWanted = lane === registryLane || !this.#readsRegistryOnly
    if (isWanted && !this.#read.has(lane)) this.#read.set(lane, position)
  }

  #deliver(lane: Lane, id: Buffer, fields: readonly Buffer[]): void {
    const position = Number.parseInt(id.toString(), 10)
    const before = this.#read.get(lane)
    if (before !== undefined && position > before + 1) this.#reportLost(lane, position - 1)
    const event = decodeEvent(fields[1] ?? Buffer.alloc(0))
    this.#read.set(lane, position)
    if (!event) return this.#reportLost(lane, position)
    for (const each of this.#deps.followers) each.deliver(lane, { position, event })
  }

  #reportLost(lane: Lane, upTo: number): void {
    this.#deps.onLoss()
    this.#read.set(lane, upTo)
    for (const each of this.#deps.followers) each.lost(lane, upTo)
  }
}

type Part = readonly [name: Buffer, entries: readonly (readonly [id: Buffer, fields: readonly Buffer[]])[]]

const run = (
  { redis }: Ready,
  { text }: Script,
  keys: readonly string[],
  args: readonly (string | number)[],
): Promise<unknown> => redis.eval(text, keys.length, ...keys, ...args)
